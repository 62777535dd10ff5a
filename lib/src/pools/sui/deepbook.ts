/* Swaps on DeepBook v3 (package version 8): swap_exact_base_for_quote and swap_exact_quote_for_base. */

import { orderDeepPrice } from './deepbook-deep-price.ts'
import { feeOf, INPUT_FEE, takerFeeOf } from './deepbook-fee.ts'
import {
  type DeepbookFill,
  type DeepbookOrder,
  type DeepbookState,
  matchOrders,
  PRICE_MAX,
  PRICE_MIN,
  withRest,
} from './deepbook-matching.ts'
import { addBalances, DEEPBOOK_SCALE, type DeepbookBalances, divide, nonZeroBalance } from './deepbook-math.ts'
import { inputFeeRate, quoteDeepbookOut, walkBook } from './deepbook-quote.ts'
import { abortUnless, catchAbort, type MoveAbortCode } from './move-abort.ts'

const MODULE = 'pool'
const INVALID_AMOUNT = 6
const OUTPUT_BELOW_MINIMUM = 11
const BALANCE_TOO_LOW = 3

export type DeepbookSwap = Readonly<{
  /** A bid pays quote for base. */
  isBid: boolean
  /** Base units of the input. What no lot uses of it returns to the trader. */
  amount: bigint
  /** Base units of DEEP to pay the fee with; what is left returns to the trader. 0 = the fee is in the input. */
  deepIn: bigint
  /** Base units of the output. The contract does not apply it where it trades nothing. */
  outputMin: bigint
}>

type Swapped<O extends DeepbookOrder, S extends DeepbookState<O>> = Readonly<{
  /** Base units: the used input with its fee, the output, and the fee in DEEP. */
  paid: bigint
  received: bigint
  deepPaid: bigint
  /** The taker fee in the coin it is paid in. */
  fee: bigint
  /** Whether the book or the limit of fills ended before the input. */
  isExhausted: boolean
  fills: readonly DeepbookFill<O>[]
  next: S
}>

export type DeepbookResult<O extends DeepbookOrder = DeepbookOrder, S extends DeepbookState<O> = DeepbookState<O>> =
  | (Readonly<{ abort: null }> & Swapped<O, S>)
  | Readonly<{ abort: MoveAbortCode }>

/** The swap of a trader without a balance manager, so without stake. Below the minimum size nothing is traded, without an abort. */
export function swapDeepbook<O extends DeepbookOrder, S extends DeepbookState<O>>(
  state: S & DeepbookState<O>,
  swap: DeepbookSwap,
): DeepbookResult<O, S> {
  const result = catchAbort(() => applySwap<O, S>(state, swap))
  return 'abort' in result ? result : { abort: null, ...result }
}

function applySwap<O extends DeepbookOrder, S extends DeepbookState<O>>(
  state: S & DeepbookState<O>,
  { isBid, amount, deepIn, outputMin }: DeepbookSwap,
): Swapped<O, S> {
  abortUnless(amount > 0n, MODULE, INVALID_AMOUNT)
  const isFeeInDeep = deepIn > 0n
  const quantity = findQuantity(state, isBid, amount, isFeeInDeep)
  const { isExhausted } = walkBook(state, { isBid, amount, isFeeInDeep })
  if (quantity < state.minSize)
    return { paid: 0n, received: 0n, deepPaid: 0n, fee: 0n, isExhausted, fills: [], next: state }
  const price = isFeeInDeep ? orderDeepPrice(state.isWhitelisted, state.deepPrice) : INPUT_FEE
  const match = matchOrders<O>(state, { isBid, limitPrice: isBid ? PRICE_MAX : PRICE_MIN, quantity })
  const fee = feeOf(price, match.base, match.quote, isBid, takerFeeOf(state, 0n, 0n))
  const owed = addBalances(fee, isBid ? [0n, match.quote, 0n] : [match.base, 0n, 0n])
  const paid = owed[isBid ? 1 : 0]
  checkFunds(isBid ? [0n, amount, deepIn] : [amount, 0n, deepIn], owed)
  const received = isBid ? match.base : match.quote
  abortUnless(received >= outputMin, MODULE, OUTPUT_BELOW_MINIMUM)
  return {
    ...{ paid, received, deepPaid: owed[2], fee: nonZeroBalance(fee) },
    isExhausted,
    fills: match.fills,
    next: withRest<O, S & DeepbookState<O>>(state, isBid, match.rest),
  }
}

/** Aborts if the trader has less than it owes. */
export function checkFunds(funds: DeepbookBalances, owed: DeepbookBalances): void {
  const isCovered = funds[0] >= owed[0] && funds[1] >= owed[1] && funds[2] >= owed[2]
  abortUnless(isCovered, 'balance_manager', BALANCE_TOO_LOW)
}

/** The base to trade in whole lots: for a bid what the quote function says, for an ask the input less its fee. */
function findQuantity(state: DeepbookState, isBid: boolean, amount: bigint, isFeeInDeep: boolean): bigint {
  const wholeLots = (base: bigint) => base - (base % state.lotSize)
  if (isBid) return wholeLots(quoteDeepbookOut(state, { isBid, amount, isFeeInDeep })[0])
  return wholeLots(isFeeInDeep ? amount : divide(amount, DEEPBOOK_SCALE + inputFeeRate(state)))
}
