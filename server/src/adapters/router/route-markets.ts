import type { PoolsAt } from '../../swap/ports/pools.ts'
import type { RouteOrder } from '../../swap/ports/router.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { createPoolMarket, type PoolMarket } from '../../swap/routing/pool-market.ts'

/** The pools that a trade may use. `nativeRates`: a cache, by token. */
export type RouteMarket = Readonly<{ market: PoolMarket; nativeRates: Map<string, number> }>

/** Markets with pools of unlisted tokens, or without some pools, that are kept per state of the pools. */
const MARKETS_MAX = 16

/**
 * The market of each trade, built at the first request after a change of the pools: until then a source states the same array, set and map.
 * Anybody can create a token that acts differently in a swap than in a simulation, so a pool with an unlisted token is only used by trades
 * from or to that token.
 */
export function createRouteMarkets(): (
  at: PoolsAt,
  order: Pick<RouteOrder, 'tokenIn' | 'tokenOut' | 'avoid'>,
) => RouteMarket {
  let cached: MarketsOfPools | null = null
  return (at, { tokenIn, tokenOut, avoid = [] }) => {
    if (cached === null || !cached.isOf(at)) cached = createMarketsOf(at)
    return cached.find([tokenIn, tokenOut], avoid)
  }
}

type MarketsOfPools = Readonly<{
  isOf(at: PoolsAt): boolean
  find(tokens: readonly string[], avoid: readonly string[]): RouteMarket
}>

function createMarketsOf({ pools, refusedTokens, listed: all, intermediates }: PoolsAt): MarketsOfPools {
  const listed = intermediates ?? all
  // A pool with a fee-on-transfer token, for example, pays more than the recipient gets.
  const usable = pools.filter(({ tokens }) => !tokens.some((token) => refusedTokens.has(token)))
  const isOfListed = ({ tokens }: Pool) => tokens.every((token) => listed.has(token))
  const ofListed = usable.filter(isOfListed)
  const ofUnlisted = usable.filter((pool) => !isOfListed(pool))
  const unlistedTokens = new Set(ofUnlisted.flatMap(({ tokens }) => tokens.filter((token) => !listed.has(token))))
  const byId = new Map(usable.map((pool) => [pool.id, pool]))
  /** By the unlisted tokens that the trade names, and the pools that it avoids. */
  const markets = new Map<string, RouteMarket>()
  let marketOfListed: RouteMarket | null = null

  const isOpenTo = ({ tokens }: Pool, named: readonly string[]) =>
    tokens.every((token) => listed.has(token) || named.includes(token))
  const create = (some: readonly Pool[]): RouteMarket => ({ market: createPoolMarket(some), nativeRates: new Map() })

  function findOther(named: readonly string[], avoided: ReadonlySet<string>): RouteMarket {
    const key = `${named.join()} ${[...avoided].sort().join()}`
    const known = markets.get(key)
    if (known !== undefined) return known
    const isUsed = (pool: Pool) => !avoided.has(pool.id) && isOpenTo(pool, named)
    const market = create([...ofListed, ...ofUnlisted].filter(isUsed))
    const [oldest] = markets.keys()
    if (markets.size === MARKETS_MAX && oldest !== undefined) markets.delete(oldest)
    markets.set(key, market)
    return market
  }

  return {
    isOf: (at) => at.pools === pools && at.refusedTokens === refusedTokens && at.listed === all,
    find(tokens, avoid) {
      const named = tokens.filter((token) => unlistedTokens.has(token)).sort()
      // Pools that the trade could not use anyway would only multiply the markets.
      const avoided = new Set(
        avoid.filter((id) => {
          const pool = byId.get(id)
          return pool !== undefined && isOpenTo(pool, named)
        }),
      )
      if (named.length > 0 || avoided.size > 0) return findOther(named, avoided)
      marketOfListed ??= create(ofListed)
      return marketOfListed
    },
  }
}
