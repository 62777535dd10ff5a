/* The mathematics of one step of a Turbos swap: from the price to the next tick or the limit, at constant liquidity. */

import { divideUp, U64_MAX, U128_MAX } from '../../bigint.ts'
import { abortUnless, MoveAbort } from './move-abort.ts'

/** Fee rates are parts per million of the input. */
const FEE_DENOMINATOR = 1_000_000n
const Q64 = 1n << 64n
const U256_BITS = 256

const MODULE = 'math_sqrt_price'
const FULL_MATH = 'full_math_u128'
const INVALID_SQRT_PRICE = 0
const DIVIDE_BY_ZERO = 1

export type TurbosStepInput = Readonly<{
  /** Q64.64. */
  sqrtPrice: bigint
  /** Q64.64. A target at or below the price means that coin A is paid. */
  target: bigint
  liquidity: bigint
  /** Base units: what is left of the input (with the fee) or of the output. */
  remaining: bigint
  isExactIn: boolean
  /** Parts per million. */
  feeRate: bigint
}>

/** Base units. `amountIn` does not include `fee`. */
export type TurbosStep = Readonly<{ sqrtPrice: bigint; amountIn: bigint; amountOut: bigint; fee: bigint }>

/**
 * Outputs are rounded down and an input of coin A up, but an input of coin B and the fee to the nearest unit. Where an exact input does
 * not reach the target, the fee is all that is left.
 */
export function computeTurbosStep(step: TurbosStepInput): TurbosStep {
  const { sqrtPrice: start, target, liquidity, remaining, isExactIn, feeRate } = step
  if (liquidity === 0n) return { sqrtPrice: target, amountIn: 0n, amountOut: 0n, fee: 0n }
  const a2b = start >= target
  const rest = FEE_DENOMINATOR - feeRate
  const inputTo = (end: bigint) => (a2b ? turbosDeltaA : turbosDeltaB)(start, end, liquidity, true)
  const outputTo = (end: bigint) => (a2b ? turbosDeltaB : turbosDeltaA)(start, end, liquidity, false)
  const [specifiedTo, otherTo] = isExactIn ? [inputTo, outputTo] : [outputTo, inputTo]
  const spendable = isExactIn ? toU128((remaining * rest) / FEE_DENOMINATOR, FULL_MATH) : remaining
  const whole = specifiedTo(target)
  const sqrtPrice = spendable >= whole ? target : turbosPriceAfter(start, liquidity, spendable, isExactIn, a2b)
  // In the order of the contract, which decides the module of an abort.
  const other = otherTo(sqrtPrice)
  const specified = sqrtPrice === target ? whole : specifiedTo(sqrtPrice)
  const [amountIn, output] = isExactIn ? [specified, other] : [other, specified]
  const amountOut = !isExactIn && output > remaining ? remaining : output
  if (!isExactIn || sqrtPrice === target)
    return { sqrtPrice, amountIn, amountOut, fee: divideRounded(amountIn * feeRate, rest) }
  abortUnless(remaining >= amountIn, 'math_swap', 'arithmetic')
  return { sqrtPrice, amountIn, amountOut, fee: remaining - amountIn }
}

/** Units of coin A between two prices (get_amount_a_delta_). Rounds twice in the given direction. */
export function turbosDeltaA(start: bigint, end: bigint, liquidity: bigint, isRoundedUp: boolean): bigint {
  const [low, high] = start < end ? [start, end] : [end, start]
  abortUnless(start > 0n, MODULE, INVALID_SQRT_PRICE)
  const product = (liquidity << 64n) * (high - low)
  abortUnless(product >> BigInt(U256_BITS) === 0n && low > 0n, MODULE, 'arithmetic')
  return toU128(isRoundedUp ? divideUp(divideUp(product, high), low) : product / high / low, MODULE)
}

/** Units of coin B between two prices (get_amount_b_delta_). "Up" is to the nearest unit. */
export function turbosDeltaB(start: bigint, end: bigint, liquidity: bigint, isRoundedUp: boolean): bigint {
  const product = liquidity * (start < end ? end - start : start - end)
  return isRoundedUp ? divideRounded(product, Q64) : toU128(product / Q64, FULL_MATH)
}

/** The price after an input less its fee, or after an output (get_next_sqrt_price). */
export const turbosPriceAfter = (
  sqrtPrice: bigint,
  liquidity: bigint,
  amount: bigint,
  isInput: boolean,
  a2b: boolean,
): bigint =>
  isInput === a2b
    ? priceAfterA(sqrtPrice, liquidity, amount, isInput)
    : priceAfterB(sqrtPrice, liquidity, amount, isInput)

/** Rounds up. */
function priceAfterA(sqrtPrice: bigint, liquidity: bigint, amount: bigint, isInput: boolean): bigint {
  if (amount === 0n) return sqrtPrice
  // The shift drops what is beyond 256 bits, without an abort.
  const numerator = BigInt.asUintN(U256_BITS, (liquidity * sqrtPrice) << 64n)
  const change = amount * sqrtPrice
  const denominator = (liquidity << 64n) + (isInput ? change : -change)
  abortUnless(denominator >= 0n, MODULE, 'arithmetic')
  abortUnless(denominator > 0n, 'math_u256', 'arithmetic')
  return toU128(divideUp(numerator, denominator), MODULE)
}

/** Rounds down; an output beyond u64 changes the price by the nearest unit. */
function priceAfterB(sqrtPrice: bigint, liquidity: bigint, amount: bigint, isInput: boolean): bigint {
  const isSmall = amount <= U64_MAX
  if (isInput) {
    abortUnless(liquidity > 0n, isSmall ? MODULE : FULL_MATH, 'arithmetic')
    return toU128(sqrtPrice + toU128((amount << 64n) / liquidity, FULL_MATH), MODULE)
  }
  if (liquidity === 0n)
    throw isSmall ? new MoveAbort('math_u128', DIVIDE_BY_ZERO) : new MoveAbort(FULL_MATH, 'arithmetic')
  const change = isSmall ? divideUp(amount << 64n, liquidity) : divideRounded(amount << 64n, liquidity)
  abortUnless(sqrtPrice > change, MODULE, INVALID_SQRT_PRICE)
  return sqrtPrice - change
}

/** mul_div_round adds half the denominator, rounded down. */
const divideRounded = (numerator: bigint, denominator: bigint): bigint =>
  toU128((numerator + (denominator >> 1n)) / denominator, FULL_MATH)

function toU128(value: bigint, module: string): bigint {
  abortUnless(value <= U128_MAX, module, 'arithmetic')
  return value
}
