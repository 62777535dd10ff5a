import { nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { signedEntry } from '../../core/domain/ledger/entries.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { present } from '../../lib/assert.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Chain } from '../ports/chain.ts'
import { AlreadyReleasedError } from '../ports/signer.ts'
import type { Utxo } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { type Batch, type BuildDeps, buildBatch } from './build-batch.ts'
import { type CheckDeps, holdIfLimited, selectPermitted } from './check-payouts.ts'
import { checkGas } from './fee-guard.ts'
import { readFirstNonce } from './first-nonce.ts'
import { postponeForFunds, postponeIfUncovered, refusePayout } from './hold-payouts.ts'
import { learnInvalidation } from './learn-invalidation.ts'
import { exchangeJobs, toPayment, walletOf, wrapBuildError } from './payment.ts'
import { hasLostInputs, type Prebuilt, prebuild } from './prebuild.ts'
import { listInputs, listSpendable, selectBatch } from './select-batch.ts'
import { cancelSweep, readGasUnits, sweepFee } from './sweep-fee.ts'

export type DispatchDeps = CheckDeps &
  BuildDeps &
  Readonly<{
    store: Store
    chains: ReadonlyMap<string, Chain>
    /** For metrics. */
    onPaid?(network: string, purpose: Payout['purpose'], event: 'signed' | 'confirmed'): void
  }>

/** Transactions that one run signs. The rest waits for the next run, so one network cannot occupy a worker. */
const ROUNDS_MAX = 50
/** Payouts in one transaction of the bitcoin family. */
const BATCH_MAX = 50

/** Signs the queued payouts of a network, those that wait longest first, and stores the bytes (I-11). Broadcasts nothing. */
export function createDispatchPayouts(deps: DispatchDeps) {
  return async function dispatchPayouts(network: string): Promise<void> {
    const chain = deps.chains.get(network)
    if (!chain) return
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (!(await dispatchBatch(deps, chain))) return
    }
    await deps.store.wake([{ kind: 'dispatch', id: network }])
  }
}

/** Signs one transaction. False if the queue has nothing more to sign now. */
async function dispatchBatch(deps: DispatchDeps, chain: Chain): Promise<boolean> {
  const network = chain.network.id
  const [first] = await deps.store.payouts.queue(network, 1)
  if (!first) return false
  if ((await holdIfLimited(deps, first)) || (await postponeIfUncovered(deps, chain, first))) return true
  const wallet = walletOf(chain, first.from)
  const current = await chain.reader.feeRate()
  const gasLimit = await estimateGas(deps, chain, first)
  if (gasLimit === 'refused') return true
  const canBatch = gasLimit === null
  const native = nativeId(chain.network)
  const gasUnits =
    canBatch || first.from.branch === 'hot'
      ? null
      : await readGasUnits(deps.store, chain, wallet, deps.assetById(native))
  const fee =
    gasUnits === null || gasLimit === null
      ? current
      : sweepFee(current, first.assetId === native ? gasUnits - first.units : gasUnits, gasLimit)
  if (fee === null) {
    await cancelSweep(deps.store, first)
    return true
  }
  checkpoint('dispatch.estimated')
  const firstNonce = canBatch ? 0 : await readFirstNonce(deps.store, chain, wallet)
  const choice: Choice = { first, canBatch, wallet, firstNonce }
  const prebuilt = chain.sender.buildsSlowly ? await prebuildChosen(deps, chain, choice, fee) : null
  if (prebuilt === 'nothing') return hasMore(deps, chain)
  const transactionId = await signOrRefuse(deps, chain, async (tx) => {
    const { permitted, nonce } = await choosePayouts(deps, tx, chain, { ...choice, only: prebuilt?.payouts ?? null })
    if (permitted.length === 0) return null
    const utxos = canBatch ? await listInputs(deps, tx, chain, permitted, fee) : []
    if (prebuilt && (permitted.length !== prebuilt.payouts.length || hasLostInputs(prebuilt, utxos))) {
      await tx.outflow.release(permitted.map(({ id }) => id))
      return null
    }
    return signBatch(deps, tx, chain, { payouts: permitted, fee, gasLimit, gasUnits, nonce, wallet, prebuilt }, utxos)
  })
  checkpoint('dispatch.committed')
  return transactionId !== null || hasMore(deps, chain)
}

const hasMore = async ({ store }: DispatchDeps, { network }: Chain): Promise<boolean> =>
  (await store.payouts.queue(network.id, 1)).length > 0

/** `only`: of these payouts; null = of the whole queue. */
type Choice = Readonly<{
  first: Payout
  canBatch: boolean
  wallet: string
  firstNonce: number
  only?: readonly Payout[] | null
}>

/** Locks the wallet's lane and the payouts for the next transaction, and holds those that may not be signed now. */
async function choosePayouts(
  deps: DispatchDeps,
  tx: StoreTx,
  chain: Chain,
  { first, canBatch, wallet, firstNonce, only = null }: Choice,
): Promise<Readonly<{ permitted: readonly Payout[]; nonce: number }>> {
  const nonce = await tx.transactions.lockLane(chain.network.id, wallet, firstNonce)
  const queue = await tx.payouts.queue(chain.network.id, canBatch ? BATCH_MAX : 1)
  const candidates = selectBatch(queue, first, canBatch)
  const limited =
    only === null
      ? await limitBatch(tx, chain, candidates)
      : candidates.filter(({ id }) => only.some((one) => one.id === id))
  return { permitted: await selectPermitted(deps, tx, limited), nonce }
}

/** Chooses the payouts in one database transaction, and builds theirs after its commit, without any lock (M23). */
async function prebuildChosen(
  deps: DispatchDeps,
  chain: Chain,
  choice: Choice,
  fee: FeeRate,
): Promise<Prebuilt | 'nothing'> {
  const chosen = await deps.store.transaction(async (tx) => {
    const { permitted } = await choosePayouts(deps, tx, chain, choice)
    // Counted again when they are signed.
    await tx.outflow.release(permitted.map(({ id }) => id))
    return permitted
  })
  if (chosen.length === 0) return 'nothing'
  return prebuild(deps, chain, chosen, { fee, utxos: await listSpendable(deps.store.transactions, chain) })
}

/**
 * Runs the signing transaction. A payout that the signer released in another transaction is queued again if that one is
 * proved invalidated, and else held for the operator. Null = nothing was signed.
 */
async function signOrRefuse(
  deps: DispatchDeps,
  chain: Chain,
  work: (tx: StoreTx) => Promise<string | null>,
): Promise<string | null> {
  try {
    return await deps.store.transaction(work)
  } catch (error) {
    if (!(error instanceof AlreadyReleasedError)) throw error
    if (await learnInvalidation(deps, chain, error)) return null
    await deps.store.transaction(async (tx) => {
      const [payout] = await tx.payouts.find([error.payoutId])
      if (payout) await refusePayout(deps, tx, payout, error)
    })
    return null
  }
}

async function limitBatch(tx: StoreTx, chain: Chain, queue: readonly Payout[]): Promise<readonly Payout[]> {
  if (!chain.sender.prefersSeparatePayouts) return queue
  return queue.slice(0, batchSize(queue, await listSpendable(tx.transactions, chain)))
}

/**
 * Number of payouts for the next transaction on a network where sharing a transaction links its payouts: as few as possible,
 * such that half of the outputs that can pay any of them suffice for the queue. The other half stays for later payouts,
 * because change is locked for several blocks.
 */
export function batchSize(payouts: readonly Readonly<{ units: bigint }>[], utxos: readonly Utxo[]): number {
  const sufficient = utxos.filter((utxo) => payouts.every(({ units }) => units < utxo.units)).length
  return Math.ceil(payouts.length / Math.max(1, Math.floor(sufficient / 2)))
}

/** Asks the node before the transaction begins. A payout that would fail on its chain, or burns gas there, is held for the operator. */
async function estimateGas(deps: DispatchDeps, chain: Chain, payout: Payout): Promise<bigint | null | 'refused'> {
  try {
    return await wrapBuildError(async () => {
      const gasLimit = await chain.sender.gasLimit(toPayment(deps, payout), payout.from)
      await checkGas(deps, chain, payout, gasLimit)
      return gasLimit
    })
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) throw error
    await deps.store.transaction((tx) =>
      error.code === 'INSUFFICIENT_LIQUIDITY'
        ? postponeForFunds(deps, tx, chain, [payout])
        : refusePayout(deps, tx, payout, error),
    )
    return 'refused'
  }
}

/** Signs the batch and stores the transaction. Null if nothing of it can be signed now. */
async function signBatch(
  deps: DispatchDeps,
  tx: StoreTx,
  chain: Chain,
  batch: Batch,
  utxos: readonly Utxo[],
): Promise<string | null> {
  const network = chain.network.id
  const isAccountChain = batch.gasLimit !== null
  const built = await buildBatch(deps, tx, chain, batch, utxos)
  if (built === null) {
    // Counted again when they are signed.
    await tx.outflow.release(batch.payouts.map(({ id }) => id))
    return null
  }
  const { unsigned, signed, payouts } = built
  const postponed = batch.payouts.slice(payouts.length)
  await tx.outflow.release(postponed.map(({ id }) => id))
  checkpoint('dispatch.signed')
  const id = timeOrderedId()
  await tx.transactions.insert({
    id,
    network,
    from: present(payouts[0], 'a payout of the batch').from,
    wallet: batch.wallet,
    conflictKey: unsigned.conflictKey,
    resources: unsigned.resources,
    nonce: isAccountChain ? batch.nonce : null,
  })
  await tx.transactions.addAttempt(id, {
    ...signed,
    intent: unsigned.intent,
    feeUnits: unsigned.feeUnits,
    outpoints: isAccountChain ? [] : unsigned.resources,
  })
  await bookSigned(tx, id, payouts)
  await tx.wake([{ kind: 'transaction', id }, ...exchangeJobs(payouts)])
  for (const { purpose } of payouts) deps.onPaid?.(network, purpose, 'signed')
  deps.log.info(
    { network, transactionId: id, txHash: signed.txHash, payoutIds: payouts.map((payout) => payout.id) },
    'transaction signed',
  )
  return id
}

/** Books the payouts of a transaction that is signed and stored. */
export async function bookSigned(tx: StoreTx, transactionId: string, payouts: readonly Payout[]): Promise<void> {
  const ids = payouts.map(({ id }) => id)
  await tx.payouts.sign(ids, transactionId)
  await tx.alarms.clear(...ids.map((id) => `payout:${id}`))
  for (const payout of payouts) {
    await tx.ledger.post(signedEntry({ ...payout, payoutId: payout.id, transactionId }))
    // The wallet's account has paid, so the order's reservation ends.
    if (payout.orderId !== null) await tx.inventory.release(payout.orderId)
  }
}
