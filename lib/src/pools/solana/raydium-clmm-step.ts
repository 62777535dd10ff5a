/* One step of a Raydium CLMM swap: from the price to the next initialised tick or the price limit, at constant liquidity. */
import { divideUp, U64_MAX } from '../../bigint.ts'
import { CLMM_ERROR } from './raydium-clmm-error.ts'
import { refuseUnless } from './swap-refusal.ts'

/** Trade, protocol and fund fee rates are parts per million. */
export const CLMM_FEE_DENOMINATOR = 1_000_000n

export type ClmmStepInput = Readonly<{
  /** Q64.64. */
  sqrtPrice: bigint
  /** Q64.64. */
  target: bigint
  liquidity: bigint
  /** Base units: what is left of the input (with the fee) or of the output. */
  remaining: bigint
  /** Parts per million. */
  tradeFeeRate: bigint
  isBaseInput: boolean
  zeroForOne: boolean
}>

/** Base units. `amountIn` does not include `fee`. */
export type ClmmStep = Readonly<{ sqrtPrice: bigint; amountIn: bigint; amountOut: bigint; fee: bigint }>

/**
 * The input is rounded up, the output down, the price against the trader. The fee is rounded up; where an exact input
 * does not reach the target, the fee is all that is left. Refuses amounts beyond u64 (MaxTokenOverflow).
 */
export function computeClmmStep(step: ClmmStepInput): ClmmStep {
  const { sqrtPrice: start, target, liquidity, remaining, tradeFeeRate, isBaseInput, zeroForOne } = step
  // Rounds down.
  const spendable = isBaseInput ? (remaining * (CLMM_FEE_DENOMINATOR - tradeFeeRate)) / CLMM_FEE_DENOMINATOR : remaining
  const whole = isBaseInput
    ? inputBetween(start, target, liquidity, zeroForOne)
    : outputBetween(start, target, liquidity, zeroForOne)
  const reachesTarget = whole <= U64_MAX && spendable >= whole
  const sqrtPrice = reachesTarget ? target : priceAfter(step, spendable)
  const amountIn = checkUnits(inputBetween(start, sqrtPrice, liquidity, zeroForOne))
  const output = checkUnits(outputBetween(start, sqrtPrice, liquidity, zeroForOne))
  const amountOut = !isBaseInput && output > remaining ? remaining : output
  const fee =
    isBaseInput && sqrtPrice !== target
      ? remaining - amountIn
      : divideUp(amountIn * tradeFeeRate, CLMM_FEE_DENOMINATOR - tradeFeeRate)
  refuseUnless(fee >= 0n && fee <= U64_MAX, CLMM_ERROR.panic)
  return { sqrtPrice, amountIn, amountOut, fee }
}

function inputBetween(start: bigint, end: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? amount0(end, start, liquidity, true) : amount1(start, end, liquidity, true)
}

function outputBetween(start: bigint, end: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? amount1(end, start, liquidity, false) : amount0(start, end, liquidity, false)
}

/** Token 0 between two prices; rounds twice in the given direction. */
function amount0(low: bigint, high: bigint, liquidity: bigint, isRoundedUp: boolean): bigint {
  const product = (liquidity << 64n) * (high - low)
  return isRoundedUp ? divideUp(divideUp(product, high), low) : product / high / low
}

/** Token 1 between two prices. */
function amount1(low: bigint, high: bigint, liquidity: bigint, isRoundedUp: boolean): bigint {
  const product = liquidity * (high - low)
  return isRoundedUp ? divideUp(product, 1n << 64n) : product >> 64n
}

/** The price after `units` of input or output. A price set by token 0 rounds up, one set by token 1 rounds down. */
function priceAfter({ sqrtPrice, liquidity, isBaseInput, zeroForOne }: ClmmStepInput, units: bigint): bigint {
  refuseUnless(liquidity !== 0n, CLMM_ERROR.panic)
  if (zeroForOne === isBaseInput) {
    const product = units * sqrtPrice
    const numerator = liquidity << 64n
    const denominator = isBaseInput ? numerator + product : numerator - product
    refuseUnless(denominator > 0n, CLMM_ERROR.panic)
    return divideUp(numerator * sqrtPrice, denominator)
  }
  if (isBaseInput) return sqrtPrice + (units << 64n) / liquidity
  const next = sqrtPrice - divideUp(units << 64n, liquidity)
  refuseUnless(next >= 0n, CLMM_ERROR.panic)
  return next
}

function checkUnits(units: bigint): bigint {
  refuseUnless(units <= U64_MAX, CLMM_ERROR.maxTokenOverflow)
  return units
}
