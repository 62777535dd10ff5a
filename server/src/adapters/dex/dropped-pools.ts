import { LRUCache } from 'lru-cache'
import type { PoolIdentity } from './tracked-pool.ts'

/** Limit of remembered pools; the oldest are forgotten. */
const DROPPED_MAX = 5_000
/** Limit of pools per token that a lookup reads again; the newest. */
const PER_TOKEN = 32

/**
 * Pools of listed tokens that were found once and are not followed. Factories cannot be asked for some of them by pair (Balancer, unusual
 * V4 keys), so a lookup of their tokens finds them here.
 */
export type DroppedPools = Readonly<{
  remember(identities: Iterable<PoolIdentity>): void
  /** Some pools of these tokens. A pool belongs to its tokens that are no connector tokens, if it has any. */
  find(tokens: readonly string[]): readonly PoolIdentity[]
}>

export function createDroppedPools(connectors: ReadonlySet<string>): DroppedPools {
  const pools = new LRUCache<string, PoolIdentity>({ max: DROPPED_MAX })
  const ownersOf = ({ tokens }: PoolIdentity): readonly string[] => {
    const others = tokens.filter((token) => !connectors.has(token))
    return others.length > 0 ? others : tokens
  }
  return {
    remember(identities) {
      for (const one of identities) pools.set(one.id, one)
    },
    find(tokens) {
      const newestFirst = [...pools.values()]
      const found = tokens.flatMap((token) =>
        newestFirst.filter((one) => ownersOf(one).includes(token)).slice(0, PER_TOKEN),
      )
      return [...new Set(found)]
    },
  }
}
