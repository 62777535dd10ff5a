/* The mathematics of one step of a Cetus swap: from the price to the next tick or the limit, at constant liquidity. */
import { divideUp, U64_MAX } from '../../bigint.ts'
import { abortUnless, MoveAbort } from './move-abort.ts'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN } from './q64-tick.ts'

/** Fee rates are parts per million of the input. */
const FEE_DENOMINATOR = 1_000_000n
const U256_BITS = 256n

const MODULE = 'clmm_math'
const PRICE_TOO_HIGH = 0
const PRICE_TOO_LOW = 1
const MULTIPLICATION_OVERFLOW = 2
const INVALID_SQRT_PRICE = 4
const OUTPUT_EXCEEDS_LIQUIDITY = 5
const AMOUNT_OVERFLOW = 6

export type CetusStepInput = Readonly<{
  /** Q64.64. */
  sqrtPrice: bigint
  /** Q64.64. */
  target: bigint
  liquidity: bigint
  /** Base units: what is left of the input (with the fee) or of the output. */
  amount: bigint
  /** Parts per million. */
  feeRate: bigint
  a2b: boolean
  byAmountIn: boolean
}>

/** Base units. `amountIn` does not include `fee`. */
export type CetusStep = Readonly<{ amountIn: bigint; amountOut: bigint; sqrtPrice: bigint; fee: bigint }>

/**
 * The input and the fee are rounded up, the output down, the price against the trader. Where an exact input does not reach the target,
 * the fee is the difference to the input less the fee rate, so nothing of the input is left.
 */
export function computeCetusStep(step: CetusStepInput): CetusStep {
  const { sqrtPrice: start, target, liquidity, amount, feeRate, a2b, byAmountIn } = step
  if (liquidity === 0n) return { amountIn: 0n, amountOut: 0n, sqrtPrice: target, fee: 0n }
  abortUnless(a2b ? start >= target : start <= target, MODULE, INVALID_SQRT_PRICE)
  const rest = FEE_DENOMINATOR - feeRate
  if (byAmountIn) {
    const spendable = (amount * rest) / FEE_DENOMINATOR
    const whole = deltaUnits(a2b, start, target, liquidity, true)
    const isTargetReached = whole <= spendable
    const sqrtPrice = isTargetReached ? target : cetusPriceAfterInput(start, liquidity, spendable, a2b)
    const amountIn = isTargetReached ? whole : spendable
    const fee = isTargetReached ? divideUp(whole * feeRate, rest) : amount - spendable
    return { amountIn, amountOut: checkUnits(deltaUnits(!a2b, start, sqrtPrice, liquidity, false)), sqrtPrice, fee }
  }
  const whole = deltaUnits(!a2b, start, target, liquidity, false)
  const isTargetReached = whole <= amount
  const sqrtPrice = isTargetReached ? target : cetusPriceAfterOutput(start, liquidity, amount, a2b)
  const amountIn = checkUnits(deltaUnits(a2b, start, sqrtPrice, liquidity, true))
  const fee = divideUp(amountIn * feeRate, rest)
  return { amountIn, amountOut: isTargetReached ? whole : amount, sqrtPrice, fee }
}

/** Units of coin A between two prices (get_delta_a); aborts beyond u64. */
export const cetusDeltaA = (start: bigint, end: bigint, liquidity: bigint, isRoundedUp: boolean): bigint =>
  checkUnits(deltaUnits(true, start, end, liquidity, isRoundedUp))

/** Units of coin B between two prices (get_delta_b); aborts beyond u64. */
export const cetusDeltaB = (start: bigint, end: bigint, liquidity: bigint, isRoundedUp: boolean): bigint =>
  checkUnits(deltaUnits(false, start, end, liquidity, isRoundedUp))

function deltaUnits(isA: boolean, start: bigint, end: bigint, liquidity: bigint, isRoundedUp: boolean): bigint {
  const product = liquidity * (start > end ? start - end : end - start)
  if (product === 0n) return 0n
  const [numerator, denominator] = isA ? [shiftLeft64(product), start * end] : [product, 1n << 64n]
  return isRoundedUp ? divideUp(numerator, denominator) : numerator / denominator
}

/** The price after an input less its fee (get_next_sqrt_price_from_input). */
export const cetusPriceAfterInput = (sqrtPrice: bigint, liquidity: bigint, amount: bigint, a2b: boolean): bigint =>
  a2b ? priceAfterA(sqrtPrice, liquidity, amount, true) : priceAfterB(sqrtPrice, liquidity, amount, true)

/** The price after an output (get_next_sqrt_price_from_output). */
export const cetusPriceAfterOutput = (sqrtPrice: bigint, liquidity: bigint, amount: bigint, a2b: boolean): bigint =>
  a2b ? priceAfterB(sqrtPrice, liquidity, amount, false) : priceAfterA(sqrtPrice, liquidity, amount, false)

/** Rounds up. */
function priceAfterA(sqrtPrice: bigint, liquidity: bigint, amount: bigint, isInput: boolean): bigint {
  if (amount === 0n) return sqrtPrice
  const numerator = shiftLeft64(sqrtPrice * liquidity)
  const base = liquidity << 64n
  const change = sqrtPrice * amount
  abortUnless(isInput || base > change, MODULE, OUTPUT_EXCEEDS_LIQUIDITY)
  return checkPrice(divideUp(numerator, isInput ? base + change : base - change))
}

/** Rounds down. */
function priceAfterB(sqrtPrice: bigint, liquidity: bigint, amount: bigint, isInput: boolean): bigint {
  if (liquidity === 0n) throw new MoveAbort('math_u128', 1)
  const shifted = amount << 64n
  if (isInput) return checkPrice(sqrtPrice + shifted / liquidity)
  const change = divideUp(shifted, liquidity)
  abortUnless(sqrtPrice >= change, MODULE, OUTPUT_EXCEEDS_LIQUIDITY)
  return checkPrice(sqrtPrice - change)
}

function checkPrice(sqrtPrice: bigint): bigint {
  abortUnless(sqrtPrice <= SQRT_PRICE_MAX, MODULE, PRICE_TOO_HIGH)
  abortUnless(sqrtPrice >= SQRT_PRICE_MIN, MODULE, PRICE_TOO_LOW)
  return sqrtPrice
}

function checkUnits(units: bigint): bigint {
  abortUnless(units <= U64_MAX, MODULE, AMOUNT_OVERFLOW)
  return units
}

function shiftLeft64(value: bigint): bigint {
  abortUnless(value >> (U256_BITS - 64n) === 0n, MODULE, MULTIPLICATION_OVERFLOW)
  return value << 64n
}
