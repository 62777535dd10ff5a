import { isPaused, type PoolPauses } from '../../swap/domain/pool-pauses.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'

/** The pools that the operator has not paused; the same array until something changes. */
export function createUnpausedPools(): (all: readonly Pool[], paused: PoolPauses) => readonly Pool[] {
  let cache: Readonly<{ all: readonly Pool[]; paused: PoolPauses; unpaused: readonly Pool[] }> | null = null
  return (all, paused) => {
    if (cache?.all === all && cache.paused === paused) return cache.unpaused
    const some = all.filter((pool) => !isPaused(pool, paused))
    cache = { all, paused, unpaused: some.length === all.length ? all : some }
    return cache.unpaused
  }
}
