/* Quotes of DeepBook v3: what an input pays (get_quantity_out), and what an output costs (get_quantity_in). */

import { smallest } from '../../bigint.ts'
import { midPrice, orderDeepPrice } from './deepbook-deep-price.ts'
import { feeOf, feeQuantity, INPUT_FEE, INPUT_FEE_MULTIPLIER } from './deepbook-fee.ts'
import { type DeepbookOrder, type DeepbookState, FILLS_MAX } from './deepbook-matching.ts'
import {
  DEEPBOOK_SCALE,
  type DeepbookBalances,
  divide,
  divideRoundedUp,
  multiply,
  NO_BALANCES,
} from './deepbook-math.ts'
import { abortUnless } from './move-abort.ts'

const MODULE = 'book'
const INVALID_AMOUNT = 1
const EMPTY_BOOK = 2

export type DeepbookQuoteRequest = Readonly<{
  /** A bid pays quote for base. */
  isBid: boolean
  /** Base units of the input (quantity out) or of the output (quantity in). */
  amount: bigint
  isFeeInDeep: boolean
}>

/** The fee in the input, as a share of the traded amount; scaled by 10^9. */
export const inputFeeRate = ({ takerFee }: DeepbookState): bigint => multiply(INPUT_FEE_MULTIPLIER, takerFee)

const grossRateOf = (state: DeepbookState, isFeeInDeep: boolean): bigint =>
  isFeeInDeep ? DEEPBOOK_SCALE : DEEPBOOK_SCALE + inputFeeRate(state)

const priceFor = ({ isWhitelisted, deepPrice }: DeepbookState, isFeeInDeep: boolean) =>
  isFeeInDeep ? orderDeepPrice(isWhitelisted, deepPrice) : INPUT_FEE

/**
 * The output with the unspent input in the input's place, and the fee in DEEP. Below the minimum size the whole input is unspent. What a
 * lot does not use of the input stays unspent.
 */
export function quoteDeepbookOut(state: DeepbookState, request: DeepbookQuoteRequest): DeepbookBalances {
  const { isBid, amount, isFeeInDeep } = request
  const price = priceFor(state, isFeeInDeep)
  abortUnless(amount > 0n, MODULE, INVALID_AMOUNT)
  const unspent: DeepbookBalances = isBid ? [0n, amount, 0n] : [amount, 0n, 0n]
  if (!isBid && (isFeeInDeep ? amount : divide(amount, grossRateOf(state, false))) < state.minSize) return unspent
  const { output, left } = walkBook(state, request)
  const [base, quote] = isBid ? [output, amount - left] : [amount - left, output]
  const deep = isFeeInDeep ? multiply(state.takerFee, feeQuantity(price, base, quote, isBid)[2]) : 0n
  const isBelowMinimum = isBid ? base < state.minSize : base > 0n && base < state.minSize
  if (isBelowMinimum) return unspent
  return isBid ? [output, left, deep] : [left, output, deep]
}

/** `left` is the unspent input. `isExhausted`: the book or the limit of fills ended before the input did. */
export function walkBook(state: DeepbookState, { isBid, amount, isFeeInDeep }: DeepbookQuoteRequest) {
  const grossRate = grossRateOf(state, isFeeInDeep)
  let [left, output, steps, isExhausted] = [amount, 0n, 0, true]
  for (const order of isBid ? state.asks : state.bids) {
    if (left === 0n || steps === FILLS_MAX) break
    steps += 1
    if (state.nowMs > order.expiresAtMs) continue
    const open = isFeeInDeep ? left : divide(left, grossRate)
    const base = wholeLots(state, order, isBid ? divide(open, order.price) : open)
    // Less than the whole order: the input is the limit.
    isExhausted = base === wholeLots(state, order, order.remaining)
    if (base === 0n) break
    const quote = multiply(base, order.price)
    const [paid, received] = isBid ? [quote, base] : [base, quote]
    output += received
    left -= paid + (isFeeInDeep ? 0n : multiply(paid, grossRate - DEEPBOOK_SCALE))
  }
  return { output, left, isExhausted: isExhausted && left > 0n }
}

const wholeLots = ({ lotSize }: DeepbookState, { remaining }: DeepbookOrder, base: bigint): bigint => {
  const matched = smallest(base, remaining)
  return matched - (matched % lotSize)
}

/** The least input for an output, what it pays, and the fee in DEEP; zeros if the book or the minimum size does not allow it. */
export function quoteDeepbookIn(state: DeepbookState, request: DeepbookQuoteRequest): DeepbookBalances {
  const { isBid, amount: target, isFeeInDeep } = request
  const price = priceFor(state, isFeeInDeep)
  abortUnless(target > 0n, MODULE, INVALID_AMOUNT)
  const grossRate = grossRateOf(state, isFeeInDeep)
  let [input, output, traded, steps] = [0n, 0n, 0n, 0]
  for (const order of isBid ? state.asks : state.bids) {
    if (output >= target || steps === FILLS_MAX) break
    steps += 1
    if (state.nowMs > order.expiresAtMs) continue
    const needed = isBid ? target - output : divideRoundedUp(target - output, order.price)
    const lots = roundUpToLot(needed, state.lotSize)
    const base = smallest(lots, order.remaining)
    if (base === 0n) break
    const quote = multiply(base, order.price)
    const [paid, received] = isBid ? [quote, base] : [base, quote]
    traded += base
    output += received
    input += multiply(paid, grossRate)
  }
  const [base, quote] = isBid ? [output, input] : [input, output]
  const deep = isFeeInDeep ? multiply(state.takerFee, feeQuantity(price, base, quote, isBid)[2]) : 0n
  return output >= target && traded >= state.minSize ? [base, quote, deep] : NO_BALANCES
}

const roundUpToLot = (quantity: bigint, lotSize: bigint): bigint => {
  const beyond = quantity % lotSize
  return beyond === 0n ? quantity : quantity + lotSize - beyond
}

/** The mean of the best prices that have not expired. */
export function deepbookMidPrice({ bids, asks, nowMs }: DeepbookState): bigint {
  const isValid = ({ expiresAtMs }: DeepbookOrder) => nowMs <= expiresAtMs
  const [bid, ask] = [bids.find(isValid), asks.find(isValid)]
  abortUnless(bid !== undefined && ask !== undefined, MODULE, EMPTY_BOOK)
  return midPrice(bid.price, ask.price)
}

/** DEEP that an order needs as a taker and as a maker, without the discount of stakers (get_order_deep_required). */
export function deepRequired(
  state: DeepbookState,
  order: Readonly<{ base: bigint; price: bigint; makerFee: bigint }>,
): readonly [taker: bigint, maker: bigint] {
  const price = priceFor(state, true)
  const feeAt = (rate: bigint) => feeOf(price, order.base, multiply(order.base, order.price), true, rate)[2]
  return [feeAt(state.takerFee), feeAt(order.makerFee)]
}
