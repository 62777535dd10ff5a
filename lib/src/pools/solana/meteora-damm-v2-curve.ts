/* Amounts of Meteora DAMM v2 without fees: one range of concentrated liquidity, or x·y = k of a compounding pool. */
import { divideUp, squareRoot, U64_MAX } from '../../bigint.ts'
import type { DammPoolState } from './meteora-damm-v2-accounts.ts'
import { DAMM_ERROR } from './meteora-damm-v2-error.ts'
import { refuseUnless } from './swap-refusal.ts'

/** Base units. `sqrtPrice` is null where it follows from the reserves. */
export type DammStep = Readonly<{ amountIn: bigint; amountOut: bigint; sqrtPrice: bigint | null }>

/** The output of an input, rounded down. With `isPartial` the swap stops at the end of the range; otherwise it is refused there. */
export function dammOutput(pool: DammPoolState, aToB: boolean, amountIn: bigint, isPartial: boolean): DammStep {
  const { liquidity, sqrtPrice, sqrtPriceMin, sqrtPriceMax } = pool
  if (pool.feeMode === 'compounding') {
    const [reserveIn, reserveOut] = ordered(pool.reserves, aToB)
    return { amountIn, amountOut: (reserveOut * amountIn) / (reserveIn + amountIn), sqrtPrice: null }
  }
  const end = aToB ? sqrtPriceMin : sqrtPriceMax
  const most = inputBetween(pool, aToB, end)
  const isStopped = isPartial && amountIn >= most
  const next = isStopped ? end : priceAfterInput(pool, aToB, amountIn)
  refuseUnless(isPartial || (aToB ? next >= end : next <= end), DAMM_ERROR.priceRangeViolation)
  return {
    amountIn: isStopped ? most : amountIn,
    amountOut: aToB ? (liquidity * (sqrtPrice - next)) >> 128n : (liquidity * (next - sqrtPrice)) / (sqrtPrice * next),
    sqrtPrice: next,
  }
}

/** Rounded up for A and down for B. */
function priceAfterInput({ liquidity, sqrtPrice }: DammPoolState, aToB: boolean, amountIn: bigint): bigint {
  return aToB
    ? divideUp(liquidity * sqrtPrice, liquidity + amountIn * sqrtPrice)
    : sqrtPrice + (amountIn << 128n) / liquidity
}

/** The input for an output, rounded up. */
export function dammInput(pool: DammPoolState, aToB: boolean, amountOut: bigint): DammStep {
  const { liquidity, sqrtPrice } = pool
  if (pool.feeMode === 'compounding') {
    const [reserveIn, reserveOut] = ordered(pool.reserves, aToB)
    refuseUnless(amountOut < reserveOut, DAMM_ERROR.mathOverflow)
    return checkInput({
      amountIn: divideUp(reserveIn * amountOut, reserveOut - amountOut),
      amountOut,
      sqrtPrice: null,
    })
  }
  const next = aToB
    ? sqrtPrice - divideUp(amountOut << 128n, liquidity)
    : priceAfterOutputOfA(liquidity, sqrtPrice, amountOut)
  refuseUnless(next >= 0n, DAMM_ERROR.mathOverflow)
  refuseUnless(aToB ? next >= pool.sqrtPriceMin : next <= pool.sqrtPriceMax, DAMM_ERROR.priceRangeViolation)
  return checkInput({ amountIn: inputBetween(pool, aToB, next), amountOut, sqrtPrice: next })
}

function priceAfterOutputOfA(liquidity: bigint, sqrtPrice: bigint, amountOut: bigint): bigint {
  const rest = liquidity - amountOut * sqrtPrice
  refuseUnless(rest > 0n, DAMM_ERROR.mathOverflow)
  return divideUp(liquidity * sqrtPrice, rest)
}

/** The input from the present price to another one, rounded up. */
function inputBetween({ liquidity, sqrtPrice }: DammPoolState, aToB: boolean, next: bigint): bigint {
  return aToB
    ? divideUp(liquidity * (sqrtPrice - next), next * sqrtPrice)
    : divideUp(liquidity * (next - sqrtPrice), 1n << 128n)
}

function checkInput(step: DammStep): DammStep {
  refuseUnless(step.amountIn <= U64_MAX, DAMM_ERROR.typeCastFailed)
  return step
}

/** Q64.64, rounded down. */
export function dammSqrtPriceOf([a, b]: readonly [bigint, bigint]): bigint {
  return a === 0n ? 0n : squareRoot((b << 128n) / a)
}

/** The pair as input and output. */
const ordered = ([a, b]: readonly [bigint, bigint], aToB: boolean): readonly [bigint, bigint] =>
  aToB ? [a, b] : [b, a]
