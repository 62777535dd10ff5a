import { dlmmArrayIndex } from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { clmmArrayStart } from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import { type Pool, swapExact } from '../../pool-kinds.ts'
import type { MeteoraDlmmRoutePool } from './meteora-dlmm.ts'
import type { RaydiumClmmRoutePool } from './raydium-clmm.ts'

/** One percent of the price, in ticks and in basis points of bins. */
const MARGIN = 100

/**
 * The pool with only those arrays of ticks or bins that a swap needs, also if the price moves by one percent before or during it, in either
 * direction. Each is an account of the transaction.
 */
export function narrowPool(pool: Pool, tokenIn: number, amountIn: bigint): Pool {
  if (pool.kind !== 'raydium-clmm' && pool.kind !== 'meteora-dlmm') return pool
  const next = swapExact(pool, tokenIn, 1 - tokenIn, amountIn)?.next
  if (pool.kind === 'raydium-clmm') return next?.kind === 'raydium-clmm' ? narrowTicks(pool, next) : pool
  return next?.kind === 'meteora-dlmm' ? narrowBins(pool, next) : pool
}

const between = (a: number, b: number, margin: number) => [Math.min(a, b) - margin, Math.max(a, b) + margin] as const

function narrowTicks(pool: RaydiumClmmRoutePool, next: RaydiumClmmRoutePool): RaydiumClmmRoutePool {
  const { tickSpacing, tickCurrent } = pool.state.state
  const [low, high] = between(tickCurrent, next.state.state.tickCurrent, MARGIN)
  const [first, last] = [clmmArrayStart(low, tickSpacing), clmmArrayStart(high, tickSpacing)]
  return { ...pool, arrays: pool.arrays.filter(({ start }) => start >= first && start <= last) }
}

function narrowBins(pool: MeteoraDlmmRoutePool, next: MeteoraDlmmRoutePool): MeteoraDlmmRoutePool {
  const { activeId, binStep } = pool.state.pair
  const [low, high] = between(activeId, next.state.pair.activeId, Math.ceil(MARGIN / binStep))
  const [first, last] = [dlmmArrayIndex(low), dlmmArrayIndex(high)]
  return { ...pool, arrays: pool.arrays.filter(({ index }) => index >= first && index <= last) }
}
