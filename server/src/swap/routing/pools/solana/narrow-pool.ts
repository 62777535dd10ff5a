import { dlmmArrayIndex } from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { clmmArrayStart } from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import { type Pool, swapExact } from '../../pool-kinds.ts'
import type { MeteoraDlmmRoutePool } from './meteora-dlmm.ts'
import { type RaydiumClmmRoutePool, ticksOf } from './raydium-clmm.ts'

/** One percent of the price, in ticks and in basis points of bins. */
const MARGIN = 100

/**
 * The pool with only those arrays of ticks or bins that a swap needs, also if the price moves by one percent before or during it, in either
 * direction. Each is an account of the transaction.
 */
export function narrowPool(pool: Pool, tokenIn: number, amountIn: bigint): Pool {
  if (pool.kind !== 'raydium-clmm' && pool.kind !== 'meteora-dlmm') return pool
  const next = swapExact(pool, tokenIn, 1 - tokenIn, amountIn)?.next
  const isFalling = tokenIn === 0
  if (pool.kind === 'raydium-clmm') return next?.kind === 'raydium-clmm' ? narrowTicks(pool, next, isFalling) : pool
  return next?.kind === 'meteora-dlmm' ? narrowBins(pool, next, isFalling) : pool
}

/** The program looks for the next initialised tick, also where the swap ends before it. */
function narrowTicks(pool: RaydiumClmmRoutePool, next: RaydiumClmmRoutePool, isFalling: boolean): RaydiumClmmRoutePool {
  const { tickSpacing, tickCurrent } = pool.state.state
  const end = next.state.state.tickCurrent
  const ticks = ticksOf(pool).map(({ index }) => index)
  const low = isFalling
    ? (ticks.findLast((tick) => tick <= end - MARGIN) ?? Number.NEGATIVE_INFINITY)
    : tickCurrent - MARGIN
  const high = isFalling
    ? tickCurrent + MARGIN
    : (ticks.find((tick) => tick > end + MARGIN) ?? Number.POSITIVE_INFINITY)
  const [first, last] = [clmmArrayStart(low, tickSpacing), clmmArrayStart(high, tickSpacing)]
  return { ...pool, arrays: pool.arrays.filter(({ start }) => start >= first && start <= last) }
}

/** The program skips arrays without liquidity, so the next one with liquidity may be beyond the margin. */
function narrowBins(pool: MeteoraDlmmRoutePool, next: MeteoraDlmmRoutePool, isFalling: boolean): MeteoraDlmmRoutePool {
  const { activeId, binStep } = pool.state.pair
  const margin = Math.ceil(MARGIN / binStep)
  const end = dlmmArrayIndex(next.state.pair.activeId + (isFalling ? -margin : margin))
  const begin = dlmmArrayIndex(activeId + (isFalling ? margin : -margin))
  const indexes = pool.arrays.map(({ index }) => index)
  const low = isFalling ? (indexes.findLast((index) => index <= end) ?? Number.NEGATIVE_INFINITY) : begin
  const high = isFalling ? begin : (indexes.find((index) => index >= end) ?? Number.POSITIVE_INFINITY)
  return { ...pool, arrays: pool.arrays.filter(({ index }) => index >= low && index <= high) }
}
