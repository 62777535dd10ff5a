/* Swaps of Cetus CLMM pools, equal to package mainnet-v1.3.0, without partner fees and rewards. */
import { divideUp, U64_MAX, U128_MAX } from '../../bigint.ts'
import { type CetusStep, computeCetusStep } from './cetus-step.ts'
import {
  bookFee,
  findTick,
  lastPriceOf,
  type Q64State,
  type Q64Swap,
  type Q64Tick,
  settle,
  targetOf,
} from './concentrated-q64.ts'
import { abortUnless, catchAbort, type MoveAbortCode } from './move-abort.ts'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN, sqrtPriceAtTick, TICK_MAX, tickAtSqrtPrice } from './q64-tick.ts'

/** `protocolFeeRate` is parts per 10,000. */
const PROTOCOL_FEE_DENOMINATOR = 10_000n

const MODULE = 'pool'
/* The recorded swaps do not show the codes 0 to 2. */
const ZERO_AMOUNT = 0
const LIQUIDITY_OVERFLOW = 1
const LIQUIDITY_UNDERFLOW = 2
const NOT_ENOUGH_LIQUIDITY = 4
const AMOUNT_IN_OVERFLOW = 6
const WRONG_PRICE_LIMIT = 11
const ZERO_OUTPUT = 18
const TICK_OUT_OF_RANGE = 30

/** Base units. `amountIn` does not include `fee`. `isExceeded`: the liquidity ended before the amount. */
export type CetusQuote = Readonly<{
  amountIn: bigint
  amountOut: bigint
  fee: bigint
  sqrtPrice: bigint
  isExceeded: boolean
  steps: number
}>

/** Base units: what the trader pays, with the fee, and gets; or the abort. */
export type CetusResult =
  | Readonly<{ abort: null; paid: bigint; received: bigint; fee: bigint; steps: number; next: Q64State }>
  | Readonly<{ abort: MoveAbortCode }>

type Progress = Omit<CetusQuote, 'isExceeded'> &
  Readonly<{ remaining: bigint; tick: number; liquidity: bigint; feeGrowth: bigint; protocolFee: bigint }>

/** calculate_swap_result: the swap without a price limit, on a pool that does not change. */
export function quoteCetus(
  pool: Q64State,
  { a2b, isExactIn, amount }: Omit<Q64Swap, 'sqrtPriceLimit'>,
): CetusQuote | Readonly<{ abort: MoveAbortCode }> {
  return catchAbort(() => {
    const sqrtPriceLimit = lastPriceOf(a2b)
    // The function has no limit: what is left at the last price counts as exceeded.
    const { end, isExceeded } = walkTicks(pool, { a2b, isExactIn, amount, sqrtPriceLimit })
    const { amountIn, amountOut, fee, sqrtPrice, steps, remaining } = end
    return { amountIn, amountOut, fee, sqrtPrice, isExceeded: isExceeded || remaining > 0n, steps }
  })
}

/** flash_swap and its repayment. */
export function swapCetus(pool: Q64State, swap: Q64Swap): CetusResult {
  const result = catchAbort(() => applySwap(pool, swap))
  return 'abort' in result ? result : { abort: null, ...result }
}

function applySwap(pool: Q64State, swap: Q64Swap) {
  const { a2b, amount, sqrtPriceLimit } = swap
  abortUnless(amount > 0n, MODULE, ZERO_AMOUNT)
  const isLimitReachable = a2b
    ? sqrtPriceLimit < pool.sqrtPrice && sqrtPriceLimit >= SQRT_PRICE_MIN
    : sqrtPriceLimit > pool.sqrtPrice && sqrtPriceLimit <= SQRT_PRICE_MAX
  abortUnless(isLimitReachable, MODULE, WRONG_PRICE_LIMIT)
  const { end, isExceeded } = walkTicks(pool, swap)
  abortUnless(!isExceeded, MODULE, NOT_ENOUGH_LIQUIDITY)
  abortUnless(end.amountOut > 0n, MODULE, ZERO_OUTPUT)
  abortUnless(end.tick >= -TICK_MAX && end.tick < TICK_MAX, MODULE, TICK_OUT_OF_RANGE)
  const paid = end.amountIn + end.fee
  abortUnless(paid <= U64_MAX, MODULE, 'arithmetic')
  return { paid, received: end.amountOut, fee: end.fee, steps: end.steps, next: settle(pool, a2b, end) }
}

/** Steps from initialised tick to initialised tick, until the amount or the ticks end or the price reaches the limit. */
function walkTicks(pool: Q64State, swap: Q64Swap): Readonly<{ end: Progress; isExceeded: boolean }> {
  const { a2b, isExactIn, sqrtPriceLimit: limit } = swap
  let progress: Progress = {
    ...{ amountIn: 0n, amountOut: 0n, fee: 0n, steps: 0, protocolFee: 0n },
    remaining: swap.amount,
    sqrtPrice: pool.sqrtPrice,
    tick: pool.tick,
    liquidity: pool.liquidity,
    feeGrowth: pool.feeGrowth[a2b ? 0 : 1],
  }
  let position = findTick(pool.ticks, pool.tick) + (a2b ? 0 : 1)
  while (progress.remaining > 0n && progress.sqrtPrice !== limit) {
    const next = pool.ticks[position]
    if (next === undefined) return { end: progress, isExceeded: true }
    position += a2b ? -1 : 1
    const nextPrice = sqrtPriceAtTick(next.index)
    const { sqrtPrice, liquidity, remaining: amount } = progress
    const target = targetOf(nextPrice, limit, a2b)
    const step = computeCetusStep({
      sqrtPrice,
      target,
      liquidity,
      amount,
      feeRate: pool.feeRate,
      a2b,
      byAmountIn: isExactIn,
    })
    const moved = addStep(progress, step, pool, isExactIn)
    if (step.sqrtPrice === nextPrice) progress = crossTick(moved, next, a2b)
    else progress = step.sqrtPrice === sqrtPrice ? moved : { ...moved, tick: tickAtSqrtPrice(step.sqrtPrice) }
  }
  return { end: progress, isExceeded: false }
}

/** The protocol's share of the fee is rounded up in each step. */
function addStep(progress: Progress, step: CetusStep, pool: Q64State, isExactIn: boolean): Progress {
  const amountIn = progress.amountIn + step.amountIn
  abortUnless(amountIn <= U64_MAX, MODULE, AMOUNT_IN_OVERFLOW)
  const protocolFee = divideUp(step.fee * pool.protocolFeeRate, PROTOCOL_FEE_DENOMINATOR)
  return {
    ...progress,
    ...bookFee(progress, step.fee, protocolFee),
    amountIn,
    amountOut: progress.amountOut + step.amountOut,
    remaining: progress.remaining - (isExactIn ? step.amountIn + step.fee : step.amountOut),
    sqrtPrice: step.sqrtPrice,
  }
}

function crossTick(progress: Progress, crossed: Q64Tick, a2b: boolean): Progress {
  const liquidity = progress.liquidity + (a2b ? -crossed.net : crossed.net)
  abortUnless(liquidity >= 0n, MODULE, LIQUIDITY_UNDERFLOW)
  abortUnless(liquidity <= U128_MAX, MODULE, LIQUIDITY_OVERFLOW)
  return { ...progress, liquidity, tick: a2b ? crossed.index - 1 : crossed.index }
}
