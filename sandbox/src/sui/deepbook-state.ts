/* Loads a DeepBook pool for its mathematics, and stores what has changed. */
import { bcs } from '@mysten/sui/bcs'
import type { DeepbookAccount, DeepbookLedger, RestingOrder } from '@swapyard/lib/pools/sui/deepbook-accounts.ts'
import { addGasPrice, gasPricePenalty } from '@swapyard/lib/pools/sui/deepbook-gas-penalty.ts'
import { type DeepbookBalances, NO_BALANCES } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import {
  DEEPBOOK_GAS_PRICE_NAME,
  type DeepbookAccountObject,
  type DeepbookInner,
  type DeepbookOrderObject,
  deepbookAccountField,
  deepbookAccountSchema,
  deepbookFeesIn,
  deepbookGasPriceField,
  deepbookGasPriceSchema,
  deepbookInnerField,
  deepbookInnerSchema,
  deepbookPoolSchema,
  readDeepbookOrders,
  toDeepbookOrder,
  toDeepbookState,
  toGasPriceState,
} from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import { writeOrders } from './deepbook-tree.ts'
import type { DynamicFields, TypedBytes } from './field-store.ts'
import type { MoveContext } from './move-function.ts'

/** The version that the functions of the package return. */
export const DEEPBOOK_VERSION = '8'

type PoolObject = typeof deepbookPoolSchema.$inferType
type GasPrices = typeof deepbookGasPriceSchema.$inferType

/** A pool with the objects from which its ledger was read. */
export type LoadedBook = Readonly<{
  pool: PoolObject
  inner: DeepbookInner
  bids: readonly DeepbookOrderObject[]
  asks: readonly DeepbookOrderObject[]
  accounts: ReadonlyMap<string, DeepbookAccountObject>
  gasPrices: GasPrices
  ledger: DeepbookLedger
}>

const innerName = ({ inner }: PoolObject): TypedBytes => ({
  ...{ type: 'u64', bytes: bcs.u64().serialize(inner.version).toBytes() },
})
const accountName = (manager: string): TypedBytes => ({
  ...{ type: '0x2::object::ID', bytes: bcs.Address.serialize(manager).toBytes() },
})

export function readInner(fields: DynamicFields, pool: PoolObject): DeepbookInner {
  const field = fields.find(pool.inner.id, innerName(pool))
  if (field === null) throw new Error(`Pool ${pool.id} has no state of version ${pool.inner.version}`)
  return deepbookInnerField.parse(field).value
}

export function writeInner(
  fields: DynamicFields,
  pool: PoolObject,
  { address, types }: Readonly<{ address: string; types: readonly string[] }>,
  inner: DeepbookInner,
): void {
  const type = `${address}::pool::PoolInner<${types.join(', ')}>`
  fields.set(pool.inner.id, innerName(pool), { type, bytes: deepbookInnerSchema.serialize(inner).toBytes() })
}

export function writeAccount(
  fields: DynamicFields,
  { state }: DeepbookInner,
  address: string,
  [manager, account]: readonly [string, DeepbookAccountObject],
): void {
  const bytes = deepbookAccountSchema.serialize(account).toBytes()
  fields.set(state.accounts.id, accountName(manager), { type: `${address}::account::Account`, bytes })
}

/** As a pool begins with it: enabled by its administrators only. */
const firstGasPrices = (gasPrice: bigint): GasPrices => ({
  ...{ mean: (gasPrice * 1_000_000_000n).toString(), variance: '0', alpha: '10000000', zScoreThreshold: '3000000000' },
  ...{ additionalTakerFee: '1000000', lastUpdatedMs: '0', isEnabled: false },
})

const numbersOf = ({ base, quote, deep }: DeepbookAccountObject['settled']): DeepbookBalances => [
  ...([BigInt(base), BigInt(quote), BigInt(deep)] as const),
]
const textsOf = ([base, quote, deep]: DeepbookBalances) => ({
  ...{ base: base.toString(), quote: quote.toString(), deep: deep.toString() },
})

const restingOrder = (order: DeepbookOrderObject, isBid: boolean): RestingOrder => ({
  ...toDeepbookOrder(order),
  ...{ manager: order.manager, isBid, quantity: BigInt(order.quantity) },
  deepPrice: { assetIsBase: order.deepPrice.assetIsBase, deepPerAsset: BigInt(order.deepPrice.deepPerAsset) },
})

const accountOf = ({ settled, takerVolume, makerVolume, activeStake }: DeepbookAccountObject): DeepbookAccount => ({
  ...{ funds: NO_BALANCES, settled: numbersOf(settled), volume: BigInt(takerVolume) + BigInt(makerVolume) },
  activeStake: BigInt(activeStake),
})

function loadAccounts(fields: DynamicFields, inner: DeepbookInner, orders: readonly DeepbookOrderObject[]) {
  const accounts = new Map<string, DeepbookAccountObject>()
  for (const { manager } of orders) {
    if (accounts.has(manager)) continue
    const field = fields.find(inner.state.accounts.id, accountName(manager))
    if (field === null) throw new Error(`Balance manager ${manager} has an order and no account`)
    accounts.set(manager, deepbookAccountField.parse(field).value)
  }
  return accounts
}

export function loadBook(contents: Uint8Array, { fields, epoch, timestampMs, gasPrice }: MoveContext): LoadedBook {
  const pool = deepbookPoolSchema.parse(contents)
  const inner = readInner(fields, pool)
  const bids = readDeepbookOrders(fields.list(inner.book.bids.id), true)
  const asks = readDeepbookOrders(fields.list(inner.book.asks.id), false)
  const accounts = loadAccounts(fields, inner, [...bids, ...asks])
  const field = fields.find(pool.id, DEEPBOOK_GAS_PRICE_NAME)
  const before = field === null ? firstGasPrices(gasPrice) : deepbookGasPriceField.parse(field).value
  const prices = addGasPrice(toGasPriceState(before), gasPrice, BigInt(timestampMs))
  const [mean, variance, lastUpdatedMs] = [prices.mean, prices.variance, prices.lastUpdatedMs].map(String)
  const state = toDeepbookState<RestingOrder>(inner, {
    bids: bids.map((order) => restingOrder(order, true)),
    asks: asks.map((order) => restingOrder(order, false)),
    ...{ epoch, nowMs: BigInt(timestampMs), gasPricePenalty: gasPricePenalty(prices, gasPrice) },
  })
  const ledger = {
    ...{ ...state, tickSize: BigInt(inner.book.tickSize), makerFee: BigInt(deepbookFeesIn(inner, epoch).makerFee) },
    accounts: new Map([...accounts].map(([manager, account]) => [manager, accountOf(account)])),
    vault: numbersOf(inner.vault),
  }
  return {
    ...{ pool, inner, bids, asks, accounts, ledger },
    gasPrices: { ...before, mean, variance, lastUpdatedMs } as GasPrices,
  }
}

/** The orders of a side after a swap: it fills or drops the first ones, and the next one partly. */
function ordersAfter(before: readonly DeepbookOrderObject[], after: readonly RestingOrder[]) {
  const removed = before.slice(0, before.length - after.length)
  const left = before.slice(removed.length).map((order, place): DeepbookOrderObject => {
    const filled = BigInt(order.quantity) - (after[place] as RestingOrder).remaining
    return filled === BigInt(order.filled) ? order : { ...order, filled: filled.toString(), status: 1 }
  })
  return { removed, left }
}

/** Stores what a swap changes: the side that it matched, its makers' accounts, the vault and the gas prices. */
export function storeSwap(
  { pool, inner, bids, asks, accounts, gasPrices, ledger }: LoadedBook,
  next: DeepbookLedger,
  { fields, epoch }: MoveContext,
  pack: Readonly<{ address: string; types: readonly string[] }>,
): void {
  const { address } = pack
  const [bidsAfter, asksAfter] = [ordersAfter(bids, next.bids), ordersAfter(asks, next.asks)]
  const book = {
    ...inner.book,
    ...(next.bids === ledger.bids ? {} : { bids: writeOrders(fields, address, inner.book.bids, bidsAfter.left) }),
    ...(next.asks === ledger.asks ? {} : { asks: writeOrders(fields, address, inner.book.asks, asksAfter.left) }),
  }
  const removed = new Set([...bidsAfter.removed, ...asksAfter.removed].map(({ orderId }) => orderId))
  for (const [manager, account] of accounts) {
    const [was, is] = [ledger.accounts.get(manager), next.accounts.get(manager)]
    if (was === undefined || is === undefined || was === is) continue
    const makerVolume = (BigInt(account.makerVolume) + is.volume - was.volume).toString()
    const openOrders = account.openOrders.filter((orderId) => !removed.has(orderId))
    writeAccount(fields, inner, address, [
      manager,
      { ...account, settled: textsOf(is.settled), makerVolume, openOrders },
    ])
  }
  const governance = { ...inner.state.governance, epoch: epoch.toString(), tradeParams: deepbookFeesIn(inner, epoch) }
  writeInner(fields, pool, pack, {
    ...{ ...inner, book, vault: textsOf(next.vault) },
    state: { ...inner.state, governance },
  })
  const bytes = deepbookGasPriceSchema.serialize(gasPrices).toBytes()
  fields.set(pool.id, DEEPBOOK_GAS_PRICE_NAME, { type: `${address}::ewma::EWMAState`, bytes })
}
