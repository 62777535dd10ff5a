import { nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { signedEntry } from '../../core/domain/ledger/entries.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { present } from '../../lib/assert.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Chain } from '../ports/chain.ts'
import type { KeyPath } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { batchSize } from './batch-size.ts'
import { type Batch, type BuildDeps, buildBatch } from './build-batch.ts'
import { type CheckDeps, selectPermitted } from './check-payouts.ts'
import { holdForFunds, refusePayout } from './hold-payouts.ts'
import { exchangeJobs, toPayment, walletOf, wrapBuildError } from './payment.ts'

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
/** Outputs that one transaction considers as inputs. */
const UTXOS_MAX = 500

/** Signs the queued payouts of a network, oldest first, and stores the bytes (I-11). Broadcasts nothing. */
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
  const wallet = walletOf(chain, first.from)
  const fee = await chain.reader.feeRate()
  const gasLimit = await estimateGas(deps, chain, first)
  if (gasLimit === 'refused') return true
  const canBatch = gasLimit === null
  // The ledger has no account for the gas on a deposit address, so its balance is read from the chain.
  const gasUnits =
    canBatch || first.from.branch === 'hot'
      ? null
      : await chain.reader.balance(wallet, deps.assetById(nativeId(chain.network)))
  checkpoint('dispatch.estimated')
  const transactionId = await deps.store.transaction(async (tx) => {
    const nonce = await tx.transactions.lockLane(network, wallet)
    const queue = await tx.payouts.queue(network, canBatch ? BATCH_MAX : 1)
    const candidates = queue.filter(
      (payout) => isSamePath(payout.from, first.from) && (canBatch || payout.id === first.id),
    )
    const permitted = await selectPermitted(deps, tx, await limitBatch(tx, chain, candidates))
    if (permitted.length === 0) return null
    return signBatch(deps, tx, chain, { payouts: permitted, fee, gasLimit, gasUnits, nonce, wallet })
  })
  checkpoint('dispatch.committed')
  if (transactionId === null) return (await deps.store.payouts.queue(network, 1)).length > 0
  return true
}

const isSamePath = (a: KeyPath, b: KeyPath): boolean => a.branch === b.branch && a.index === b.index

async function limitBatch(tx: StoreTx, chain: Chain, queue: readonly Payout[]): Promise<readonly Payout[]> {
  if (!chain.sender.prefersSeparatePayouts) return queue
  return queue.slice(0, batchSize(queue, await listSpendable(tx, chain)))
}

const listSpendable = (tx: StoreTx, { network }: Chain) =>
  tx.transactions.listSpendable(network.id, network.confirmations, UTXOS_MAX)

/** Asks the node before the transaction begins. A payout that would fail on its chain is held for the operator. */
async function estimateGas(deps: DispatchDeps, chain: Chain, payout: Payout): Promise<bigint | null | 'refused'> {
  try {
    return await wrapBuildError(() => chain.sender.gasLimit(toPayment(deps, payout), payout.from))
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) throw error
    await deps.store.transaction((tx) =>
      error.code === 'INSUFFICIENT_LIQUIDITY'
        ? holdForFunds(deps, tx, chain, [payout])
        : refusePayout(deps, tx, payout, error),
    )
    return 'refused'
  }
}

/** Signs the batch and stores the transaction. Null if nothing of it can be signed now. */
async function signBatch(deps: DispatchDeps, tx: StoreTx, chain: Chain, batch: Batch): Promise<string | null> {
  const network = chain.network.id
  const isAccountChain = batch.gasLimit !== null
  const built = await buildBatch(deps, tx, chain, batch, isAccountChain ? [] : await listSpendable(tx, chain))
  if (built === null) return null
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
  await tx.payouts.sign(
    payouts.map((payout) => payout.id),
    id,
  )
  for (const payout of payouts) {
    await tx.ledger.post(signedEntry({ ...payout, payoutId: payout.id, transactionId: id }))
    // The wallet's account has paid, so the order's reservation ends.
    if (payout.executionId !== null && payout.orderId !== null) await tx.inventory.release(payout.orderId)
  }
  await tx.wake([{ kind: 'transaction', id }, ...exchangeJobs(payouts)])
  for (const { purpose } of payouts) deps.onPaid?.(network, purpose, 'signed')
  deps.log.info({ network, transactionId: id, txHash: signed.txHash, payouts: payouts.length }, 'transaction signed')
  return id
}
