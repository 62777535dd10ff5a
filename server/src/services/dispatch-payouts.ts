import { randomUUID } from 'node:crypto'
import type { Asset, AssetId } from '../domain/asset.ts'
import { AppError } from '../domain/errors.ts'
import { signedEntry } from '../domain/ledger/entries.ts'
import { getPrice, usdValue } from '../domain/price.ts'
import { present } from '../lib/assert.ts'
import { checkpoint } from '../lib/checkpoint.ts'
import type { Log } from '../lib/log.ts'
import type { Chain, Coin, FeeRate, KeyPath, Pay, Unsigned } from '../ports/chain.ts'
import type { Signer } from '../ports/signer.ts'
import type { Payout, Store, StoreTx } from '../ports/store.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import type { ServiceSettings } from './settings.ts'

export type DispatchDeps = Readonly<{
  store: Store
  chains: ReadonlyMap<string, Chain>
  assetById(id: AssetId): Asset
  priceKeyOf(id: AssetId): string
  books: BookSnapshot
  signer: Signer
  settings: ServiceSettings
  log: Log
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
  const fee = await chain.reader.feeRate()
  const gasLimit = await estimate(deps, chain, first)
  if (gasLimit === 'refused') return true
  checkpoint('dispatch.estimated')
  const batches = gasLimit === null
  const transactionId = await deps.store.transaction(async (tx) => {
    const wallet = walletOf(chain, first.from)
    const nonce = await tx.transactions.lockLane(network, wallet)
    const queue = await tx.payouts.queue(network, batches ? BATCH_MAX : 1)
    const chosen = queue.filter((payout) => samePath(payout.from, first.from) && (batches || payout.id === first.id))
    const cleared = await clear(deps, tx, chain, chosen)
    if (cleared.length === 0) return null
    return sign(deps, tx, chain, { payouts: cleared, fee, gasLimit, nonce, wallet })
  })
  checkpoint('dispatch.committed')
  if (transactionId === null) return (await deps.store.payouts.queue(network, 1)).length > 0
  return true
}

/** Asked of the node before the transaction; a payout that would fail on chain is held for the operator. */
async function estimate(deps: DispatchDeps, chain: Chain, payout: Payout): Promise<bigint | null | 'refused'> {
  try {
    return await chain.sender.gasLimit(toPay(deps, payout), payout.from)
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) throw error
    if (error.code === 'INSUFFICIENT_LIQUIDITY') {
      await deps.store.transaction((tx) => waitForCoins(deps, tx, chain, [payout]))
      return 'refused'
    }
    await deps.store.transaction(async (tx) => {
      await tx.payouts.release([payout.id], error.code, null)
      await tx.controls.raise(`payout:${payout.id}`, 'a payout would fail on its chain', { code: error.code, exchangeId: payout.exchangeId })
      if (payout.exchangeId !== null) await tx.wake([{ kind: 'exchange', id: payout.exchangeId }])
    })
    return 'refused'
  }
}

/** Pauses and limits, inside the signing transaction (I-24, I-25). What may not go now is put back with the reason. */
async function clear(deps: DispatchDeps, tx: StoreTx, chain: Chain, payouts: readonly Payout[]): Promise<readonly Payout[]> {
  const cleared: Payout[] = []
  for (const payout of payouts) {
    const scopes = ['all', `network:${payout.network}`, `payouts:${payout.network}`, `asset:${payout.assetId}`, ...(payout.partnerId === null ? [] : [`partner:${payout.partnerId}`])]
    const paused = await tx.controls.paused(scopes)
    const verdict = paused.length > 0 ? 'paused' : await withinLimits(deps, tx, payout)
    if (verdict === 'ok') {
      cleared.push(payout)
      continue
    }
    if (verdict === 'too large') {
      await tx.payouts.release([payout.id], 'LIMIT', null)
      if (payout.exchangeId !== null) await tx.wake([{ kind: 'exchange', id: payout.exchangeId }])
      continue
    }
    await tx.payouts.release([payout.id], null, HOLD_MS)
    if (verdict === 'limit') await tx.controls.raise(`limit:${chain.network.id}`, 'the rolling outflow limit is reached', { payoutId: payout.id })
  }
  return cleared
}

async function withinLimits(deps: DispatchDeps, tx: StoreTx, payout: Payout): Promise<'ok' | 'too large' | 'limit' | 'wait'> {
  // Coins that stay ours are no outflow.
  if (payout.purpose === 'sweep' || payout.purpose === 'gas') return 'ok'
  const asset = deps.assetById(payout.assetId)
  let usd: bigint
  try {
    usd = usdValue(payout.units, asset, getPrice(deps.books.current().prices, deps.priceKeyOf(payout.assetId)).ask, 'up')
  } catch (error) {
    if (error instanceof AppError) return 'wait'
    throw error
  }
  const { perTransactionUsd, hourUsd, dayUsd } = deps.settings.limits
  if (usd > perTransactionUsd && !payout.approved) return 'too large'
  const scopes = ['all', `asset:${payout.assetId}`, ...(payout.partnerId === null ? [] : [`partner:${payout.partnerId}`])]
  return (await tx.controls.takeLimit(payout.id, scopes, usd, { hour: hourUsd, day: dayUsd })) === null ? 'ok' : 'limit'
}

type Batch = Readonly<{ payouts: readonly Payout[]; fee: FeeRate; gasLimit: bigint | null; nonce: number; wallet: string }>

async function sign(deps: DispatchDeps, tx: StoreTx, chain: Chain, batch: Batch): Promise<string | null> {
  const network = chain.network.id
  const coins = batch.gasLimit === null ? await tx.transactions.spendable(network, chain.network.confirmations, COINS_MAX) : []
  const built = await build(deps, tx, chain, batch, coins)
  if (built === null) return null
  const { unsigned, payouts } = built
  const signed = await deps.signer.sign(unsigned.intent, payouts.map(({ id, address, memo, assetId, units }) => ({ id, address, memo, assetId, units })))
  checkpoint('dispatch.signed')
  const id = randomUUID()
  await tx.transactions.insert({ id, network, from: batch.payouts[0]?.from ?? { branch: 'hot', index: 0 }, wallet: batch.wallet, conflictKey: unsigned.conflictKey, resources: unsigned.resources, nonce: batch.gasLimit === null ? null : batch.nonce })
  await tx.transactions.addAttempt(id, { ...signed, intent: unsigned.intent, feeUnits: unsigned.feeUnits, coins: batch.gasLimit === null ? unsigned.resources : [] })
  await tx.payouts.sign(payouts.map((payout) => payout.id), id)
  for (const payout of payouts) {
    await tx.ledger.post(signedEntry({ ...payout, payoutId: payout.id, transactionId: id }))
    // The wallet has paid: what was promised of it is promised no more.
    if (payout.purpose === 'payout' && payout.orderId !== null) await tx.inventory.release(payout.orderId)
  }
  await tx.wake([{ kind: 'transaction', id }, ...payouts.flatMap(({ exchangeId }) => (exchangeId === null ? [] : [{ kind: 'exchange' as const, id: exchangeId }]))])
  deps.log.info({ network, transactionId: id, txHash: signed.txHash, payouts: payouts.length }, 'transaction signed')
  return id
}

/** Fewer and fewer payouts until the coins cover them; none: the queue waits for the wallet to be filled. */
async function build(deps: DispatchDeps, tx: StoreTx, chain: Chain, batch: Batch, coins: readonly Coin[]): Promise<{ unsigned: Unsigned; payouts: readonly Payout[] } | null> {
  const change = batch.gasLimit === null ? await tx.transactions.nextChange(chain.network.id, (index) => chain.addresses.change(index)) : { index: 0 }
  for (let count = batch.payouts.length; count > 0; count = Math.floor(count / 2)) {
    const payouts = batch.payouts.slice(0, count)
    try {
      const unsigned = chain.sender.build({
        pays: payouts.map((payout) => toPay(deps, payout)), from: present(payouts[0], 'a payout').from, fee: batch.fee, coins, changeIndex: change.index,
        nonce: batch.nonce, replaces: null, gasLimit: batch.gasLimit, sweepAll: false,
      })
      if (!(await covers(tx, batch, payouts))) throw new AppError('INSUFFICIENT_LIQUIDITY', 'the hot wallet does not cover it')
      await tx.controls.clear(`wallet:${chain.network.id}`)
      return { unsigned, payouts }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'INSUFFICIENT_LIQUIDITY') throw error
    }
  }
  await waitForCoins(deps, tx, chain, batch.payouts)
  return null
}

/** The queue stands until the wallet is filled. */
async function waitForCoins(deps: DispatchDeps, tx: StoreTx, chain: Chain, payouts: readonly Payout[]): Promise<void> {
  await tx.payouts.release(payouts.map(({ id }) => id), null, HOLD_MS)
  await tx.controls.raise(`wallet:${chain.network.id}`, 'the hot wallet does not cover its queue', { payouts: payouts.length })
  deps.log.warn({ network: chain.network.id, payouts: payouts.length }, 'hot wallet does not cover its queue')
}

/** What the ledger says of the wallet: an account never pays what it does not have. */
async function covers(tx: StoreTx, { payouts: [first] }: Batch, payouts: readonly Payout[]): Promise<boolean> {
  const account = first?.purpose === 'sweep' ? 'asset:deposits' : 'asset:wallet'
  const needed = new Map<AssetId, bigint>()
  for (const { assetId, units } of payouts) needed.set(assetId, (needed.get(assetId) ?? 0n) + units)
  for (const [assetId, units] of needed) if ((await tx.ledger.balance(account, assetId)) < units) return false
  return true
}

export function toPay(deps: Pick<DispatchDeps, 'assetById'>, payout: Payout): Pay {
  return { payoutId: payout.id, address: payout.address, memo: payout.memo, asset: deps.assetById(payout.assetId), units: payout.units }
}

/** The address whose lane a path uses: the hot wallet's, or the deposit address that is swept. */
export function walletOf(chain: Chain, path: KeyPath): string {
  return path.branch === 'deposit' ? chain.addresses.deposit(path.index).address : chain.addresses.hot()
}

const samePath = (a: KeyPath, b: KeyPath): boolean => a.branch === b.branch && a.index === b.index
