import type { PoolsAt } from '../../swap/ports/pools.ts'
import type { RouteOrder } from '../../swap/ports/router.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { createPoolMarket, type PoolMarket } from '../../swap/routing/pool-market.ts'

/** The pools that a trade may use. `nativeRates`: a cache, by token. */
export type RouteMarket = Readonly<{ market: PoolMarket; nativeRates: Map<string, number> }>

/** Markets with pools of unlisted tokens that are kept per state of the pools. */
const MARKETS_MAX = 16

/**
 * The market of each trade, built at the first request after a change of the pools. Anybody can create a token that acts differently in
 * a swap than in a simulation, so a pool with an unlisted token is only used by trades from or to that token.
 */
export function createRouteMarkets(): (at: PoolsAt, order: Pick<RouteOrder, 'tokenIn' | 'tokenOut'>) => RouteMarket {
  let cached: MarketsOfPools | null = null
  return (at, { tokenIn, tokenOut }) => {
    if (cached === null || !cached.isOf(at)) cached = createMarketsOf(at)
    return cached.find([tokenIn, tokenOut])
  }
}

type MarketsOfPools = Readonly<{ isOf(at: PoolsAt): boolean; find(tokens: readonly string[]): RouteMarket }>

function createMarketsOf({ pools, feeOnTransferTokens, listed }: PoolsAt): MarketsOfPools {
  // A pool with a fee-on-transfer token pays more than the recipient gets.
  const usable = pools.filter(({ tokens }) => !tokens.some((token) => feeOnTransferTokens.has(token)))
  const isOfListed = ({ tokens }: Pool) => tokens.every((token) => listed.has(token))
  const ofListed = usable.filter(isOfListed)
  const ofUnlisted = usable.filter((pool) => !isOfListed(pool))
  const unlistedTokens = new Set(ofUnlisted.flatMap(({ tokens }) => tokens.filter((token) => !listed.has(token))))
  /** By the unlisted tokens that the trade names. */
  const markets = new Map<string, RouteMarket>()
  let marketOfListed: RouteMarket | null = null

  const create = (some: readonly Pool[]): RouteMarket => ({ market: createPoolMarket(some), nativeRates: new Map() })

  function findNamed(named: readonly string[]): RouteMarket {
    const key = named.join()
    const known = markets.get(key)
    if (known !== undefined) return known
    const isNamed = ({ tokens }: Pool) => tokens.every((token) => listed.has(token) || named.includes(token))
    const market = create([...ofListed, ...ofUnlisted.filter(isNamed)])
    const [oldest] = markets.keys()
    if (markets.size === MARKETS_MAX && oldest !== undefined) markets.delete(oldest)
    markets.set(key, market)
    return market
  }

  return {
    isOf: (at) => at.pools === pools && at.feeOnTransferTokens === feeOnTransferTokens && at.listed === listed,
    find(tokens) {
      const named = tokens.filter((token) => unlistedTokens.has(token)).sort()
      if (named.length > 0) return findNamed(named)
      marketOfListed ??= create(ofListed)
      return marketOfListed
    },
  }
}
