/* Liquidity of a Cetus position from amounts, and amounts from liquidity. */
import { divideUp } from '../../bigint.ts'
import { cetusDeltaA, cetusDeltaB } from './cetus-step.ts'
import { abortUnless } from './move-abort.ts'
import { sqrtPriceAtTick, tickAtSqrtPrice } from './q64-tick.ts'

const MODULE = 'clmm_math'
const INVALID_SQRT_PRICE = 4
const INVALID_RANGE = 8
/** The position holds nothing of the fixed coin at this price. */
const INVALID_FIXED_COIN = 3018

export type CetusRange = Readonly<{
  tickLower: number
  tickUpper: number
  /** The pool's price, Q64.64. */
  sqrtPrice: bigint
}>

/** Liquidity that `amount` of coin A makes between two prices (get_liquidity_from_a). */
export function cetusLiquidityFromA(start: bigint, end: bigint, amount: bigint, isRoundedUp: boolean): bigint {
  return divide(start * end * amount, distance(start, end) << 64n, isRoundedUp)
}

/** Liquidity that `amount` of coin B makes between two prices (get_liquidity_from_b). */
export function cetusLiquidityFromB(start: bigint, end: bigint, amount: bigint, isRoundedUp: boolean): bigint {
  return divide(amount << 64n, distance(start, end), isRoundedUp)
}

/** Amounts of coin A and coin B in a position (get_amount_by_liquidity). */
export function cetusAmountsOfLiquidity(
  range: CetusRange,
  liquidity: bigint,
  isRoundedUp: boolean,
): readonly [bigint, bigint] {
  if (liquidity === 0n) return [0n, 0n]
  abortUnless(range.tickLower < range.tickUpper, MODULE, INVALID_RANGE)
  const { lower, upper, middle } = pricesOf(range)
  return [cetusDeltaA(middle, upper, liquidity, isRoundedUp), cetusDeltaB(lower, middle, liquidity, isRoundedUp)]
}

/** The greatest liquidity for a fixed amount of one coin, rounded down, and both amounts, rounded up (get_liquidity_by_amount). */
export function cetusLiquidityOfAmount(
  range: CetusRange,
  amount: bigint,
  isFixedA: boolean,
): Readonly<{ liquidity: bigint; amounts: readonly [bigint, bigint] }> {
  const { lower, upper, middle } = pricesOf(range)
  if (isFixedA) {
    abortUnless(tickAtSqrtPrice(range.sqrtPrice) < range.tickUpper, MODULE, INVALID_FIXED_COIN)
    const liquidity = cetusLiquidityFromA(middle, upper, amount, false)
    return { liquidity, amounts: [amount, cetusDeltaB(lower, middle, liquidity, true)] }
  }
  abortUnless(tickAtSqrtPrice(range.sqrtPrice) >= range.tickLower, MODULE, INVALID_FIXED_COIN)
  const liquidity = cetusLiquidityFromB(lower, middle, amount, false)
  return { liquidity, amounts: [cetusDeltaA(middle, upper, liquidity, true), amount] }
}

/** `middle` is the pool's price if the range contains it, otherwise the nearer end of the range. */
function pricesOf({ tickLower, tickUpper, sqrtPrice }: CetusRange) {
  const [lower, upper, tick] = [sqrtPriceAtTick(tickLower), sqrtPriceAtTick(tickUpper), tickAtSqrtPrice(sqrtPrice)]
  return { lower, upper, middle: tick < tickLower ? lower : tick < tickUpper ? sqrtPrice : upper }
}

function distance(start: bigint, end: bigint): bigint {
  abortUnless(start !== end, MODULE, INVALID_SQRT_PRICE)
  return start > end ? start - end : end - start
}

const divide = (numerator: bigint, denominator: bigint, isRoundedUp: boolean): bigint =>
  isRoundedUp ? divideUp(numerator, denominator) : numerator / denominator
