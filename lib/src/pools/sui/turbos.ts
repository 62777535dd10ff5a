/* Swaps of Turbos CLMM pools, equal to the public sources of version 18, without partner fees and rewards. */

import { U64_MAX, U128_MAX } from '../../bigint.ts'
import { bookFee, findTick, type Q64State, type Q64Swap, type Q64Tick, settle, targetOf } from './concentrated-q64.ts'
import { abortUnless, catchAbort, type MoveAbortCode } from './move-abort.ts'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN, sqrtPriceAtTick, TICK_MAX, tickAtSqrtPrice } from './q64-tick.ts'
import { computeTurbosStep, type TurbosStep } from './turbos-step.ts'

/** `protocolFeeRate` is parts per million. */
const PROTOCOL_FEE_DENOMINATOR = 1_000_000n
/** Tick spacings in a word of the tick bitmap. The swap takes a step to the end of each word, even without a tick there. */
export const TURBOS_WORD_SPACINGS = 256

const MODULE = 'pool'
const ZERO_AMOUNT = 7
const PRICE_OUT_OF_BOUNDS = 19
const WRONG_LIMIT_DIRECTION = 20
const INSUFFICIENT_LIQUIDITY = 26

export type TurbosState = Q64State & Readonly<{ tickSpacing: number }>

/** Base units; `paid` includes `fee`. A dry run ends where no liquidity is left; `remaining` is what it did not swap of the amount. */
export type TurbosQuote = Readonly<{
  paid: bigint
  received: bigint
  fee: bigint
  protocolFee: bigint
  remaining: bigint
  sqrtPrice: bigint
  tick: number
  liquidity: bigint
  steps: number
}>

export type TurbosResult =
  | (Readonly<{ abort: null; next: TurbosState }> & Pick<TurbosQuote, 'paid' | 'received' | 'fee'>)
  | Readonly<{ abort: MoveAbortCode }>

type Progress = Omit<TurbosQuote, 'paid' | 'received'> &
  Readonly<{
    /** Base units of the other side. */
    calculated: bigint
    feeGrowth: bigint
  }>

/** compute_swap_result as a dry run: the pool does not change. */
export const quoteTurbos = (pool: TurbosState, swap: Q64Swap): TurbosQuote | Readonly<{ abort: MoveAbortCode }> =>
  catchAbort(() => {
    const { calculated, feeGrowth: _, ...end } = walkTicks(pool, swap)
    return { ...end, ...amountsOf(swap, end.remaining, calculated) }
  })

/** compute_swap_result. It refuses a swap that ends where no liquidity is left. */
export function swapTurbos(pool: TurbosState, swap: Q64Swap): TurbosResult {
  const result = catchAbort(() => applySwap(pool, swap))
  return 'abort' in result ? result : { abort: null, ...result }
}

function applySwap(pool: TurbosState, swap: Q64Swap) {
  const end = walkTicks(pool, swap)
  abortUnless(end.liquidity > 0n, MODULE, INSUFFICIENT_LIQUIDITY)
  const amounts = amountsOf(swap, end.remaining, end.calculated)
  return { ...amounts, fee: end.fee, next: settle(pool, swap.a2b, end) }
}

function amountsOf({ isExactIn, amount }: Q64Swap, remaining: bigint, calculated: bigint) {
  const specified = amount - remaining
  abortUnless(specified <= U64_MAX && calculated <= U64_MAX, MODULE, 'arithmetic')
  return isExactIn ? { paid: specified, received: calculated } : { paid: calculated, received: specified }
}

function walkTicks(pool: TurbosState, swap: Q64Swap): Progress {
  const { a2b, isExactIn, sqrtPriceLimit: limit } = swap
  abortUnless(swap.amount !== 0n, MODULE, ZERO_AMOUNT)
  abortUnless(limit >= SQRT_PRICE_MIN && limit <= SQRT_PRICE_MAX, MODULE, PRICE_OUT_OF_BOUNDS)
  abortUnless(a2b ? limit <= pool.sqrtPrice : limit >= pool.sqrtPrice, MODULE, WRONG_LIMIT_DIRECTION)
  let progress: Progress = {
    ...{ calculated: 0n, fee: 0n, protocolFee: 0n, steps: 0 },
    ...{ sqrtPrice: pool.sqrtPrice, tick: pool.tick, liquidity: pool.liquidity },
    remaining: swap.amount,
    feeGrowth: pool.feeGrowth[a2b ? 0 : 1],
  }
  while (progress.remaining > 0n && progress.sqrtPrice !== limit) {
    const { index, net } = findNextTick(pool, progress.tick, a2b)
    const nextPrice = sqrtPriceAtTick(index)
    const { sqrtPrice, liquidity, remaining } = progress
    const target = targetOf(nextPrice, limit, a2b)
    const step = computeTurbosStep({ sqrtPrice, target, liquidity, remaining, isExactIn, feeRate: pool.feeRate })
    const moved = addStep(progress, step, pool, isExactIn)
    if (step.sqrtPrice === nextPrice) progress = crossTick(moved, { index, net }, a2b)
    else progress = step.sqrtPrice === sqrtPrice ? moved : { ...moved, tick: tickAtSqrtPrice(step.sqrtPrice) }
    if (progress.liquidity === 0n) break
  }
  return progress
}

/** The next initialised tick in the word of the bitmap, or the word's last tick, which changes no liquidity. */
function findNextTick({ ticks, tickSpacing }: TurbosState, from: number, a2b: boolean): Q64Tick {
  const spacings = Math.floor(from / tickSpacing) + (a2b ? 0 : 1)
  const wordStart = Math.floor(spacings / TURBOS_WORD_SPACINGS) * TURBOS_WORD_SPACINGS
  const wordEnd = (a2b ? wordStart : wordStart + TURBOS_WORD_SPACINGS - 1) * tickSpacing
  const tick = ticks[findTick(ticks, from) + (a2b ? 0 : 1)]
  if (tick !== undefined && (a2b ? tick.index >= wordEnd : tick.index <= wordEnd)) return tick
  return { index: Math.max(-TICK_MAX, Math.min(TICK_MAX, wordEnd)), net: 0n }
}

/** The protocol's share of the fee is rounded down in each step. */
function addStep(progress: Progress, step: TurbosStep, pool: TurbosState, isExactIn: boolean): Progress {
  const { amountIn, amountOut, fee, sqrtPrice } = step
  const remaining = progress.remaining - (isExactIn ? amountIn + fee : amountOut)
  const calculated = progress.calculated + (isExactIn ? amountOut : amountIn + fee)
  abortUnless(remaining >= 0n && calculated <= U128_MAX, MODULE, 'arithmetic')
  const protocolFee = (fee * pool.protocolFeeRate) / PROTOCOL_FEE_DENOMINATOR
  return { ...progress, ...bookFee(progress, fee, protocolFee), remaining, calculated, sqrtPrice }
}

function crossTick(progress: Progress, { index, net }: Q64Tick, a2b: boolean): Progress {
  const liquidity = progress.liquidity + (a2b ? -net : net)
  abortUnless(liquidity >= 0n && liquidity <= U128_MAX, 'math_liquidity', 'arithmetic')
  return { ...progress, liquidity, tick: a2b ? index - 1 : index }
}
