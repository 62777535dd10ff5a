/* Order book of a DeepBook v3 pool and the matching of one order against it. */
import type { DeepbookRates, OrderDeepPrice } from './deepbook-fee.ts'
import { multiply } from './deepbook-math.ts'

/** Orders that one taker can match, expired ones included. */
export const FILLS_MAX = 100
/** The limits of a market order. */
export const PRICE_MIN = 1n
export const PRICE_MAX = (1n << 63n) - 1n

export type DeepbookOrder = Readonly<{
  /** Quote per base in base units, scaled by 10^9. */
  price: bigint
  /** Base units of base. */
  remaining: bigint
  /** Unix milliseconds; the order is valid at this time. */
  expiresAtMs: bigint
}>

export type DeepbookState<O extends DeepbookOrder = DeepbookOrder> = DeepbookRates &
  Readonly<{
    /** Base units of base. */
    lotSize: bigint
    minSize: bigint
    /** Pools of DEEP itself, without fees. */
    isWhitelisted: boolean
    /** Null: no point was added yet, so no order can pay its fee in DEEP. */
    deepPrice: OrderDeepPrice | null
    /** Unix milliseconds. */
    nowMs: bigint
    /** In matching order: the best price first, then the oldest. Expired orders stay until a taker passes them. */
    bids: readonly O[]
    asks: readonly O[]
  }>

export type DeepbookTaker = Readonly<{
  isBid: boolean
  limitPrice: bigint
  /** Base units of base. */
  quantity: bigint
}>

/** Base units. A dropped fill cancels an expired maker order, or one of the taker itself; then it is what was left of that order. */
export type DeepbookFill<O extends DeepbookOrder> = Readonly<{
  order: O
  base: bigint
  quote: bigint
  isDropped: boolean
  isComplete: boolean
}>

export type DeepbookMatch<O extends DeepbookOrder> = Readonly<{
  fills: readonly DeepbookFill<O>[]
  /** The matched side of the book afterwards. */
  rest: readonly O[]
  /** Sums of the fills that are not dropped. */
  base: bigint
  quote: bigint
  isFillLimitReached: boolean
}>

/** Matches a taker. `mustDrop` says that the taker cancels this maker order; it may abort. */
export function matchOrders<O extends DeepbookOrder>(
  state: DeepbookState<O>,
  { isBid, limitPrice, quantity }: DeepbookTaker,
  mustDrop: (order: O) => boolean = () => false,
): DeepbookMatch<O> {
  const orders = isBid ? state.asks : state.bids
  const fills: DeepbookFill<O>[] = []
  let [base, quote] = [0n, 0n]
  for (const order of orders) {
    const isCrossed = isBid ? limitPrice >= order.price : limitPrice <= order.price
    if (fills.length === FILLS_MAX || base === quantity || !isCrossed) break
    const isDropped = mustDrop(order) || state.nowMs > order.expiresAtMs
    const open = quantity - base
    const filled = isDropped || order.remaining < open ? order.remaining : open
    const isComplete = !isDropped && filled === order.remaining
    const fill = { order, base: filled, quote: multiply(filled, order.price), isDropped, isComplete }
    fills.push(fill)
    if (isDropped) continue
    base += fill.base
    quote += fill.quote
  }
  const last = fills.at(-1)
  const rest = orders.slice(fills.length)
  const isPartlyFilled = last !== undefined && !last.isDropped && !last.isComplete
  const partlyFilled = isPartlyFilled ? [{ ...last.order, remaining: last.order.remaining - last.base }] : []
  return { fills, rest: [...partlyFilled, ...rest], base, quote, isFillLimitReached: fills.length === FILLS_MAX }
}

/** The state after a match. */
export const withRest = <O extends DeepbookOrder, S extends DeepbookState<O>>(
  state: S,
  isBid: boolean,
  rest: readonly O[],
): S => ({ ...state, ...(isBid ? { asks: rest } : { bids: rest }) })
