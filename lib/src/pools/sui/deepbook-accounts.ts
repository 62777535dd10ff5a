/* Orders of balance managers in a DeepBook v3 pool within one epoch, and what managers and the vault hold afterwards. */

import { checkFunds, type DeepbookSwap, swapDeepbook } from './deepbook.ts'
import { orderDeepPrice } from './deepbook-deep-price.ts'
import { feeOf, INPUT_FEE, type OrderDeepPrice, takerFeeOf } from './deepbook-fee.ts'
import {
  type DeepbookFill,
  type DeepbookMatch,
  type DeepbookOrder,
  type DeepbookState,
  matchOrders,
  PRICE_MAX,
  PRICE_MIN,
  withRest,
} from './deepbook-matching.ts'
import {
  addBalances,
  DEEPBOOK_SCALE,
  type DeepbookBalances,
  divide,
  multiply,
  NO_BALANCES,
  nonZeroBalance,
} from './deepbook-math.ts'
import { abortUnless, MoveAbort } from './move-abort.ts'

const OPEN_ORDERS_MAX = 100
const TOO_MANY_OPEN_ORDERS = 2

/** Codes of module order_info. */
const ORDER_INFO = 'order_info'
const INVALID_PRICE = 0
const BELOW_MINIMUM = 1
const INVALID_LOT = 2
const EXPIRED = 3
const POST_ONLY_CROSSES = 5
const NOT_FULLY_FILLED = 6
const SELF_MATCHING = 8

export type RestingOrder = DeepbookOrder &
  Readonly<{
    /** Id of its balance manager. */
    manager: string
    isBid: boolean
    /** Base units of base: what the order was for, or was reduced to. */
    quantity: bigint
    deepPrice: OrderDeepPrice
  }>

export type DeepbookAccount = Readonly<{
  /** What the balance manager holds. */
  funds: DeepbookBalances
  /** What the vault owes it until its next operation. */
  settled: DeepbookBalances
  /** Traded base of this epoch, as maker and taker. */
  volume: bigint
  /** Base units of DEEP. */
  activeStake: bigint
}>

export type DeepbookLedger = DeepbookState<RestingOrder> &
  Readonly<{
    tickSize: bigint
    /** Scaled by 10^9. */
    makerFee: bigint
    accounts: ReadonlyMap<string, DeepbookAccount>
    vault: DeepbookBalances
  }>

export type OrderType = 'none' | 'immediate-or-cancel' | 'fill-or-kill' | 'post-only'

export type OrderRequest = Readonly<{
  manager: string
  orderType: OrderType
  selfMatching: 'allowed' | 'cancel-taker' | 'cancel-maker'
  /** Null: a market order. */
  price: bigint | null
  quantity: bigint
  isBid: boolean
  isFeeInDeep: boolean
  expiresAtMs: bigint
}>

/** A fill with the fees of both sides, in the coin that each is paid in. */
export type ChargedFill = DeepbookFill<RestingOrder> & Readonly<{ takerFee: bigint; makerFee: bigint }>

export type PlacedOrder = Readonly<{
  executed: bigint
  quote: bigint
  takerFeeRate: bigint
  takerFee: bigint
  makerFee: bigint
  status: 'live' | 'partly-filled' | 'filled' | 'cancelled'
  isInserted: boolean
  fills: readonly ChargedFill[]
  next: DeepbookLedger
}>

/** place_limit_order and place_market_order. Throws a MoveAbort. */
export function placeOrder(ledger: DeepbookLedger, order: OrderRequest): PlacedOrder {
  const { manager, isBid, orderType } = order
  const deepPrice = order.isFeeInDeep ? orderDeepPrice(ledger.isWhitelisted, ledger.deepPrice) : INPUT_FEE
  checkOrder(ledger, order)
  const limitPrice = order.price ?? (isBid ? PRICE_MAX : PRICE_MIN)
  const match = matchOrders(ledger, { isBid, limitPrice, quantity: order.quantity }, (maker) => {
    const isOwn = maker.manager === manager
    abortUnless(!(isOwn && order.selfMatching === 'cancel-taker'), ORDER_INFO, SELF_MATCHING)
    return isOwn && order.selfMatching === 'cancel-maker'
  })
  const remaining = order.quantity - match.base
  abortUnless(orderType !== 'post-only' || match.base === 0n, ORDER_INFO, POST_ONLY_CROSSES)
  abortUnless(orderType !== 'fill-or-kill' || remaining === 0n, ORDER_INFO, NOT_FULLY_FILLED)
  const isInserted = orderType !== 'immediate-or-cancel' && remaining > 0n && !match.isFillLimitReached
  const matched = settleMakers(withRest<RestingOrder, DeepbookLedger>(ledger, isBid, match.rest), match.fills)
  if (isInserted) checkOpenOrders(matched, manager)
  const account = accountOf(matched, manager)
  const takerFeeRate = takerFeeOf(ledger, account.activeStake, volumeInDeep(account, deepPrice, match))
  const takerFee = feeOf(deepPrice, match.base, match.quote, isBid, takerFeeRate)
  const restQuote = isInserted ? multiply(remaining, limitPrice) : 0n
  const makerFee = isInserted ? feeOf(deepPrice, remaining, restQuote, isBid, ledger.makerFee) : NO_BALANCES
  const locked: DeepbookBalances = isBid
    ? [0n, match.quote + restQuote, 0n]
    : [match.base + (isInserted ? remaining : 0n), 0n, 0n]
  const traded = withAccount(matched, manager, { ...account, volume: account.volume + match.base })
  const next = settle(traded, manager, {
    settled: isBid ? [match.base, 0n, 0n] : [0n, match.quote, 0n],
    owed: addBalances(takerFee, makerFee, locked),
  })
  const { price: _, ...rest } = order
  const resting = { ...rest, price: limitPrice, remaining, deepPrice }
  return {
    ...{ executed: match.base, quote: match.quote, takerFeeRate, isInserted },
    ...{ takerFee: nonZeroBalance(takerFee), makerFee: nonZeroBalance(makerFee) },
    status: statusOf(order, match),
    fills: chargeFills(match.fills, (fill) => feeOf(deepPrice, fill.base, fill.quote, isBid, takerFeeRate), ledger),
    next: isInserted ? insertOrder(next, resting) : next,
  }
}

function checkOrder(ledger: DeepbookLedger, { quantity, price, expiresAtMs }: OrderRequest): void {
  abortUnless(quantity >= ledger.minSize, ORDER_INFO, BELOW_MINIMUM)
  abortUnless(quantity % ledger.lotSize === 0n, ORDER_INFO, INVALID_LOT)
  abortUnless(ledger.nowMs <= expiresAtMs, ORDER_INFO, EXPIRED)
  if (price === null) return
  abortUnless(price >= PRICE_MIN && price <= PRICE_MAX && price % ledger.tickSize === 0n, ORDER_INFO, INVALID_PRICE)
}

function checkOpenOrders({ bids, asks }: DeepbookLedger, manager: string): void {
  const open = [...bids, ...asks].filter((order) => order.manager === manager)
  abortUnless(open.length < OPEN_ORDERS_MAX, 'state', TOO_MANY_OPEN_ORDERS)
}

function statusOf({ orderType, quantity }: OrderRequest, { base, fills }: DeepbookMatch<RestingOrder>) {
  if (base === quantity) return 'filled'
  if (orderType === 'immediate-or-cancel') return 'cancelled'
  return fills.some(({ isDropped }) => !isDropped) ? 'partly-filled' : 'live'
}

/** The volume before this order, in DEEP at the mean price of its fills. */
function volumeInDeep(
  { volume }: DeepbookAccount,
  { assetIsBase, deepPerAsset }: OrderDeepPrice,
  { base, quote }: DeepbookMatch<RestingOrder>,
): bigint {
  const meanPrice = base > 0n ? divide(quote, base) : 0n
  const asset = assetIsBase ? volume : (volume * meanPrice) / DEEPBOOK_SCALE
  return (asset * deepPerAsset) / DEEPBOOK_SCALE
}

const makerFeeOf = ({ order, base, quote }: DeepbookFill<RestingOrder>, rate: bigint): DeepbookBalances =>
  feeOf(order.deepPrice, base, quote, order.isBid, rate)

const chargeFills = (
  fills: readonly DeepbookFill<RestingOrder>[],
  takerFee: (fill: DeepbookFill<RestingOrder>) => DeepbookBalances,
  ledger: DeepbookLedger,
): readonly ChargedFill[] =>
  fills.map((fill) =>
    fill.isDropped
      ? { ...fill, takerFee: 0n, makerFee: 0n }
      : {
          ...fill,
          takerFee: nonZeroBalance(takerFee(fill)),
          makerFee: nonZeroBalance(makerFeeOf(fill, ledger.makerFee)),
        },
  )

/** Credits the makers: the other coin of a fill; for a dropped order its own coin and the maker fee that it locked. */
function settleMakers(ledger: DeepbookLedger, fills: readonly DeepbookFill<RestingOrder>[]): DeepbookLedger {
  let next = ledger
  for (const fill of fills) {
    const { order, base, quote, isDropped } = fill
    const account = accountOf(next, order.manager)
    const credit: DeepbookBalances = order.isBid === isDropped ? [0n, quote, 0n] : [base, 0n, 0n]
    const refund = isDropped ? makerFeeOf(fill, ledger.makerFee) : NO_BALANCES
    const settled = addBalances(account.settled, credit, refund)
    const volume = account.volume + (isDropped ? 0n : base)
    next = withAccount(next, order.manager, { ...account, settled, volume })
  }
  return next
}

/** swap_exact_base_for_quote and swap_exact_quote_for_base. Throws a MoveAbort. */
export function swapOnLedger(ledger: DeepbookLedger, swap: DeepbookSwap) {
  const result = swapDeepbook<RestingOrder, DeepbookLedger>(ledger, swap)
  if (result.abort !== null) throw new MoveAbort(result.abort.module, result.abort.code)
  const { paid, received, deepPaid, fills } = result
  const matched = settleMakers(result.next, fills)
  const [base, quote, deep] = matched.vault
  const vault: DeepbookBalances = swap.isBid
    ? [base - received, quote + paid, deep + deepPaid]
    : [base + paid, quote - received, deep + deepPaid]
  return { paid, received, deepPaid, next: { ...matched, vault } }
}

/** cancel_order. */
export function cancelOrder(ledger: DeepbookLedger, order: RestingOrder): DeepbookLedger {
  const next = replaceOrder(ledger, order, null)
  return settle(next, order.manager, { settled: refundOf(order, order.remaining, ledger.makerFee), owed: NO_BALANCES })
}

/** modify_order: reduces the quantity. Throws a MoveAbort. */
export function reduceOrder(ledger: DeepbookLedger, order: RestingOrder, quantity: bigint): DeepbookLedger {
  abortUnless(quantity >= ledger.minSize, 'book', 5)
  abortUnless(quantity % ledger.lotSize === 0n, 'book', 6)
  abortUnless(quantity < order.quantity, 'book', 7)
  const filled = order.quantity - order.remaining
  abortUnless(quantity > filled, 'order', 0)
  abortUnless(ledger.nowMs <= order.expiresAtMs, 'order', 1)
  const next = replaceOrder(ledger, order, { ...order, quantity, remaining: quantity - filled })
  const settled = refundOf(order, order.quantity - quantity, ledger.makerFee)
  return settle(next, order.manager, { settled, owed: NO_BALANCES })
}

/** What a resting order locked for `base` of it, with the maker fee. */
function refundOf({ price, isBid, deepPrice }: RestingOrder, base: bigint, makerFee: bigint): DeepbookBalances {
  const quote = multiply(base, price)
  return addBalances(isBid ? [0n, quote, 0n] : [base, 0n, 0n], feeOf(deepPrice, base, quote, isBid, makerFee))
}

/** withdraw_settled_amounts. */
export const withdrawSettled = (ledger: DeepbookLedger, manager: string): DeepbookLedger =>
  settle(ledger, manager, { settled: NO_BALANCES, owed: NO_BALANCES })

/** Moves the difference of what the vault owes the manager and what the manager owes the vault. */
function settle(
  ledger: DeepbookLedger,
  manager: string,
  { settled, owed }: Readonly<{ settled: DeepbookBalances; owed: DeepbookBalances }>,
): DeepbookLedger {
  const account = accountOf(ledger, manager)
  const credit = addBalances(settled, account.settled)
  checkFunds(addBalances(account.funds, credit), owed)
  const move = (from: DeepbookBalances, index: 0 | 1 | 2, sign: bigint) =>
    from[index] + sign * (credit[index] - owed[index])
  const moved = (from: DeepbookBalances, sign: bigint): DeepbookBalances => [
    ...([move(from, 0, sign), move(from, 1, sign), move(from, 2, sign)] as const),
  ]
  const next = withAccount(ledger, manager, { ...account, funds: moved(account.funds, 1n), settled: NO_BALANCES })
  return { ...next, vault: moved(ledger.vault, -1n) }
}

/** Behind the orders of a better or the same price. */
function insertOrder(ledger: DeepbookLedger, order: RestingOrder): DeepbookLedger {
  const side = order.isBid ? ledger.bids : ledger.asks
  const isBehind = ({ price }: RestingOrder) => (order.isBid ? price < order.price : price > order.price)
  const position = side.findIndex(isBehind)
  const next = position < 0 ? [...side, order] : side.toSpliced(position, 0, order)
  return { ...ledger, ...(order.isBid ? { bids: next } : { asks: next }) }
}

function replaceOrder(ledger: DeepbookLedger, order: RestingOrder, replacement: RestingOrder | null): DeepbookLedger {
  const side = order.isBid ? ledger.bids : ledger.asks
  const next = side.toSpliced(side.indexOf(order), 1, ...(replacement === null ? [] : [replacement]))
  return { ...ledger, ...(order.isBid ? { bids: next } : { asks: next }) }
}

function accountOf({ accounts }: DeepbookLedger, manager: string): DeepbookAccount {
  const account = accounts.get(manager)
  if (account === undefined) throw new Error(`Balance manager ${manager} is unknown; add its account`)
  return account
}

const withAccount = (ledger: DeepbookLedger, manager: string, account: DeepbookAccount): DeepbookLedger => ({
  ...ledger,
  accounts: new Map(ledger.accounts).set(manager, account),
})
