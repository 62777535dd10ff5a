import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { signedEntry } from '../../core/domain/ledger/entries.ts'
import { getPrice, usdValue } from '../../core/domain/price.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { present } from '../../lib/assert.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain, UnsignedTransaction } from '../ports/chain.ts'
import { OutflowLimitError, type SignedTransaction, type Signer, type StoredPayout } from '../ports/signer.ts'
import type { Utxo, KeyPath, Payment } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'
import type { ServiceSettings } from '../settings.ts'
import { batchSize } from './batch-size.ts'
import { exchangeJobs } from './payment.ts'

export type DispatchDeps = Readonly<{
  store: Store
  chains: ReadonlyMap<string, Chain>
  assetById(id: AssetId): Asset
  priceKeyOf(id: AssetId): string
  books: BookSnapshot
  signer: Signer
  settings: ServiceSettings
  log: Log
  /** For metrics. */
  onPaid?(network: string, purpose: Payout['purpose'], event: 'signed' | 'confirmed'): void
}>

/** Transactions signed by one run: the rest is left to the next, so that one network cannot hold a worker. */
const ROUNDS_MAX = 50
/** Payouts that one transaction of the bitcoin family carries. */
const BATCH_MAX = 50
/** Coins looked at for one transaction. */
const COINS_MAX = 500
/** A payout that cannot go now is looked at again after this long. */
const HOLD_MS = 5_000

/** Signs what waits in a network's queue, oldest first, and stores the bytes. Nothing is sent here. */
export function createDispatchPayouts(deps: DispatchDeps) {
  return async function dispatchPayouts(network: string): Promise<void> {
    const chain = deps.chains.get(network)
    if (!chain) return
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (!(await dispatchOne(deps, chain))) return
    }
    await deps.store.wake([{ kind: 'dispatch', id: network }])
  }
}

/** One transaction. False where nothing is left that could go now. */
async function dispatchOne(deps: DispatchDeps, chain: Chain): Promise<boolean> {
  const network = chain.network.id
  const [first] = await deps.store.payouts.queue(network, 1)
  if (!first) return false
  const wallet = walletOf(chain, first.from)
  const fee = await chain.reader.feeRate()
  const gasLimit = await estimate(deps, chain, first)
  if (gasLimit === 'refused') return true
  const batches = gasLimit === null
  // Of a deposit address the ledger knows what was credited there, and not the gas that it was supplied with.
  const gasUnits =
    batches || first.from.branch === 'hot'
      ? null
      : await chain.reader.balance(wallet, deps.assetById(nativeId(chain.network)))
  checkpoint('dispatch.estimated')
  const transactionId = await deps.store.transaction(async (tx) => {
    const nonce = await tx.transactions.lockLane(network, wallet)
    const queue = await tx.payouts.queue(network, batches ? BATCH_MAX : 1)
    const chosen = queue.filter((payout) => samePath(payout.from, first.from) && (batches || payout.id === first.id))
    const cleared = await clear(deps, tx, chain, chain.sender.prefersSeparatePayouts ? await nextOf(tx, chain, chosen) : chosen)
    if (cleared.length === 0) return null
    return sign(deps, tx, chain, { payouts: cleared, fee, gasLimit, gasUnits, nonce, wallet })
  })
  checkpoint('dispatch.committed')
  if (transactionId === null) return (await deps.store.payouts.queue(network, 1)).length > 0
  return true
}

async function nextOf(tx: StoreTx, { network }: Chain, queue: readonly Payout[]): Promise<readonly Payout[]> {
  return queue.slice(
    0,
    batchSize(queue, await tx.transactions.listSpendable(network.id, network.confirmations, COINS_MAX)),
  )
}

/** Asked of the node before the transaction; a payout that would fail on chain is held for the operator. */
async function estimate(deps: DispatchDeps, chain: Chain, payout: Payout): Promise<bigint | null | 'refused'> {
  try {
    return await caught(() => chain.sender.gasLimit(toPay(deps, payout), payout.from))
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) throw error
    if (error.code === 'INSUFFICIENT_LIQUIDITY') {
      await deps.store.transaction((tx) => waitForCoins(deps, tx, chain, [payout]))
    } else {
      await deps.store.transaction((tx) => refuse(deps, tx, payout, error))
    }
    return 'refused'
  }
}

/** To the operator: it cannot be paid as it is, now or later, and must not stand before those that can. */
async function refuse(deps: DispatchDeps, tx: StoreTx, payout: Payout, error: AppError): Promise<void> {
  const { code, cause } = error
  const { id, network, purpose, exchangeId } = payout
  deps.log.error({ network, payoutId: id, purpose, exchangeId, err: error }, 'payout put aside')
  await tx.payouts.hold([id], code, null)
  await tx.outflow.release([id])
  await tx.alarms.raise(
    `payout:${id}`,
    code === 'INTERNAL' ? 'a payout cannot be built or signed' : 'a payout would fail on its chain',
    { code, reason: cause instanceof Error ? cause.message : error.message, purpose, exchangeId },
  )
  if (payout.exchangeId !== null) await tx.wake([{ kind: 'exchange', id: payout.exchangeId }])
}

/**
 * A bug that one payout meets is that payout's: a broken promise in building or signing it must not hold up the queue.
 * Only what touches neither the database nor the chain's nodes runs in here, so that an outage is no bug.
 */
export async function caught<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('INTERNAL', 'a payout cannot be built or signed', { cause: error })
  }
}

/** Whose pauses stop this payout. */
export const pauseScopes = ({ network, assetId: asset, partnerId }: Payout): readonly string[] => [
  'all',
  'payouts:all',
  `network:${network}`,
  `payouts:${network}`,
  `asset:${asset}`,
  ...(partnerId === null ? [] : [`partner:${partnerId}`]),
]

/** Pauses and limits, inside the signing transaction (I-24, I-25). What may not go now is put back with the reason. */
async function clear(
  deps: DispatchDeps,
  tx: StoreTx,
  chain: Chain,
  payouts: readonly Payout[],
): Promise<readonly Payout[]> {
  const cleared: Payout[] = []
  for (const payout of payouts) {
    const paused = await tx.pauses.active(pauseScopes(payout))
    if (paused.length === 0 && (await paidBefore(deps, tx, payout))) continue
    const verdict = paused.length > 0 ? 'paused' : await withinLimits(deps, tx, payout)
    if (verdict === 'ok') {
      cleared.push(payout)
      continue
    }
    if (verdict === 'too large') {
      await tx.payouts.hold([payout.id], 'LIMIT', null)
      if (payout.exchangeId !== null) await tx.wake([{ kind: 'exchange', id: payout.exchangeId }])
      continue
    }
    await tx.payouts.hold([payout.id], null, HOLD_MS)
    if (verdict === 'limit')
      await tx.alarms.raise(`limit:${chain.network.id}`, 'the rolling outflow limit is reached', {
        payoutId: payout.id,
      })
  }
  return cleared
}

/** Of before a restored database's time: paid already, as far as a machine can say. A person who approves it knows better. */
async function paidBefore(deps: DispatchDeps, tx: StoreTx, payout: Payout): Promise<boolean> {
  if (payout.approved || payout.purpose === 'sweep' || payout.purpose === 'gas') return false
  const txHash = await tx.signingJournal.findEarlierPayment(payout)
  if (txHash === null) return false
  deps.log.error(
    { network: payout.network, payoutId: payout.id, txHash },
    'payout left before the database was restored',
  )
  await tx.payouts.hold([payout.id], 'RELEASED', null)
  await tx.alarms.raise(`payout:${payout.id}`, 'a payout to this destination left before the database was restored', {
    code: 'RELEASED',
    txHash,
    exchangeId: payout.exchangeId,
  })
  if (payout.exchangeId !== null) await tx.wake([{ kind: 'exchange', id: payout.exchangeId }])
  return true
}

async function withinLimits(
  deps: DispatchDeps,
  tx: StoreTx,
  payout: Payout,
): Promise<'ok' | 'too large' | 'limit' | 'wait'> {
  // Coins that stay ours are no outflow.
  if (payout.purpose === 'sweep' || payout.purpose === 'gas') return 'ok'
  const asset = deps.assetById(payout.assetId)
  let usd: bigint
  try {
    usd = usdValue(
      payout.units,
      asset,
      getPrice(deps.books.current().prices, deps.priceKeyOf(payout.assetId)).ask,
      'up',
    )
  } catch (error) {
    if (error instanceof AppError) return 'wait'
    throw error
  }
  const { perTransactionUsd, hourUsd, dayUsd } = deps.settings.limits
  if (usd > perTransactionUsd && !payout.approved) return 'too large'
  const scopes = [
    'all',
    `asset:${payout.assetId}`,
    ...(payout.partnerId === null ? [] : [`partner:${payout.partnerId}`]),
  ]
  return (await tx.outflow.take(payout.id, scopes, usd, { hour: hourUsd, day: dayUsd })) === null ? 'ok' : 'limit'
}

/** `gasUnits`: the coin that a deposit address holds, where it pays for its own sweep. */
type Batch = Readonly<{
  payouts: readonly Payout[]
  fee: FeeRate
  gasLimit: bigint | null
  gasUnits: bigint | null
  nonce: number
  wallet: string
}>

async function sign(deps: DispatchDeps, tx: StoreTx, chain: Chain, batch: Batch): Promise<string | null> {
  const network = chain.network.id
  const coins =
    batch.gasLimit === null ? await tx.transactions.listSpendable(network, chain.network.confirmations, COINS_MAX) : []
  const built = await build(deps, tx, chain, batch, coins)
  if (built === null) return null
  const { unsigned, signed, payouts } = built
  await tx.outflow.release(batch.payouts.slice(payouts.length).map(({ id }) => id))
  checkpoint('dispatch.signed')
  const id = timeOrderedId()
  await tx.transactions.insert({
    id,
    network,
    from: present(batch.payouts[0], 'a payout of the batch').from,
    wallet: batch.wallet,
    conflictKey: unsigned.conflictKey,
    resources: unsigned.resources,
    nonce: batch.gasLimit === null ? null : batch.nonce,
  })
  await tx.transactions.addAttempt(id, {
    ...signed,
    intent: unsigned.intent,
    feeUnits: unsigned.feeUnits,
    outpoints: batch.gasLimit === null ? unsigned.resources : [],
  })
  await tx.payouts.sign(
    payouts.map((payout) => payout.id),
    id,
  )
  for (const payout of payouts) {
    await tx.ledger.post(signedEntry({ ...payout, payoutId: payout.id, transactionId: id }))
    // The wallet has paid: what was promised of it is promised no more.
    if (payout.executionId !== null && payout.orderId !== null) await tx.inventory.release(payout.orderId)
  }
  await tx.wake([{ kind: 'transaction', id }, ...exchangeJobs(payouts)])
  for (const { purpose } of payouts) deps.onPaid?.(network, purpose, 'signed')
  deps.log.info({ network, transactionId: id, txHash: signed.txHash, payouts: payouts.length }, 'transaction signed')
  return id
}

/**
 * Fewer and fewer payouts until the coins cover them; none: the queue waits for the wallet to be filled. One that can
 * never be built is found alone, and put aside.
 */
async function build(
  deps: DispatchDeps,
  tx: StoreTx,
  chain: Chain,
  batch: Batch,
  coins: readonly Utxo[],
): Promise<{ unsigned: UnsignedTransaction; signed: SignedTransaction; payouts: readonly Payout[] } | null> {
  const [first] = batch.payouts
  if (!first || (batch.gasLimit === null && !coversAny(batch, coins)))
    return waitForCoins(deps, tx, chain, batch.payouts)
  const change =
    batch.gasLimit === null
      ? await tx.transactions.nextChangeAddress(chain.network.id, (index) => chain.addresses.change(index))
      : { index: 0 }
  for (let count = batch.payouts.length; count > 0; count = Math.floor(count / 2)) {
    const payouts = batch.payouts.slice(0, count)
    try {
      const unsigned = await caught(() =>
        chain.sender.build({
          payments: payouts.map((payout) => toPay(deps, payout)),
          from: first.from,
          fee: batch.fee,
          utxos: coins,
          changeIndex: change.index,
          nonce: batch.nonce,
          replaces: null,
          gasLimit: batch.gasLimit,
          sweepAll: false,
        }),
      )
      if (!(await covers(tx, chain, batch, payouts, unsigned.feeUnits)))
        throw new AppError('INSUFFICIENT_LIQUIDITY', 'the wallet does not cover it')
      const signed = await caught(() => deps.signer.sign(unsigned.intent, payouts.map(toStored)))
      await tx.alarms.clear(`wallet:${chain.network.id}`)
      return { unsigned, signed, payouts }
    } catch (error) {
      if (!(error instanceof AppError) || error.retryable) throw error
      if (error.code === 'INSUFFICIENT_LIQUIDITY') continue
      if (error instanceof OutflowLimitError && count === 1) return holdForSigner(tx, first, error).then(() => null)
      if (count === 1) return refuse(deps, tx, first, error).then(() => null)
      // Down to the first alone.
      count = Math.min(count, 3)
    }
  }
  // The others may be smaller.
  return waitForCoins(deps, tx, chain, [first])
}

/** The signer's own counters said no. Above the size of one payout a person decides; else it goes on as the window moves. */
async function holdForSigner(tx: StoreTx, payout: Payout, { message, window }: OutflowLimitError): Promise<void> {
  const isTooLarge = window === 'transaction'
  await tx.payouts.hold([payout.id], isTooLarge ? 'LIMIT' : null, isTooLarge ? null : HOLD_MS)
  await tx.outflow.release([payout.id])
  await tx.alarms.raise(`signer-limit:${payout.assetId}`, "the signer's own outflow limit is reached", {
    payoutId: payout.id,
    reason: message,
  })
  if (isTooLarge && payout.exchangeId !== null) await tx.wake([{ kind: 'exchange', id: payout.exchangeId }])
}

const coversAny = ({ payouts }: Batch, coins: readonly Utxo[]): boolean => {
  const held = coins.reduce((total, { units }) => total + units, 0n)
  return payouts.some(({ units }) => units < held)
}

/** The queue stands until the wallet is filled. */
async function waitForCoins(deps: DispatchDeps, tx: StoreTx, chain: Chain, payouts: readonly Payout[]): Promise<null> {
  const ids = payouts.map(({ id }) => id)
  await tx.payouts.hold(ids, null, HOLD_MS)
  await tx.payouts.deferYounger(ids)
  await tx.outflow.release(ids)
  await tx.alarms.raise(`wallet:${chain.network.id}`, 'the hot wallet does not cover its queue', {
    payouts: payouts.length,
  })
  deps.log.warn({ network: chain.network.id, payouts: payouts.length }, 'hot wallet does not cover its queue')
  return null
}

/**
 * What the ledger says of the wallet: an account never pays what it does not have. In account families the fee must be
 * there as well, beside those of what is signed and not mined yet: a transaction that its wallet cannot pay for is taken
 * by no node, and stands before all that come after it.
 */
async function covers(
  tx: StoreTx,
  chain: Chain,
  batch: Batch,
  payouts: readonly Payout[],
  feeUnits: bigint,
): Promise<boolean> {
  const account = payouts[0]?.purpose === 'sweep' ? 'asset:deposits' : 'asset:wallet'
  const needed = new Map<AssetId, bigint>()
  for (const { assetId: id, units } of payouts) needed.set(id, (needed.get(id) ?? 0n) + units)
  const native = nativeId(chain.network)
  if (batch.gasUnits !== null && batch.gasUnits < (needed.get(native) ?? 0n) + feeUnits) return false
  if (batch.gasLimit !== null && batch.gasUnits === null) {
    const unpaid = await tx.transactions.unpaidFees(chain.network.id, batch.wallet)
    needed.set(native, (needed.get(native) ?? 0n) + feeUnits + unpaid)
  }
  for (const [id, units] of needed) if ((await tx.ledger.balance(account, id)) < units) return false
  return true
}

export function toPay(deps: Pick<DispatchDeps, 'assetById'>, payout: Payout): Payment {
  return {
    payoutId: payout.id,
    address: payout.address,
    memo: payout.memo,
    asset: deps.assetById(payout.assetId),
    units: payout.units,
  }
}

/** What the signer compares the intent with. */
export function toStored({ id, address, memo, assetId: asset, units }: Payout): StoredPayout {
  return { id, address, memo, assetId: asset, units }
}

/** The address whose lane a path uses: the hot wallet's, or the deposit address that is swept. */
export function walletOf(chain: Chain, path: KeyPath): string {
  return path.branch === 'deposit' ? chain.addresses.deposit(path.index).address : chain.addresses.hot()
}

const samePath = (a: KeyPath, b: KeyPath): boolean => a.branch === b.branch && a.index === b.index
