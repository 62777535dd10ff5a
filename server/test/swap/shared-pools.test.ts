import { describe, expect, test } from 'vitest'
import { type BalancerMarket, createBalancerMarket } from '../../../bench/balancer-markets.ts'
import type { Trade } from '../../../bench/swap-markets.ts'
import { createPoolMarket } from '../../src/domain/swap/pool-market.ts'
import { bestRoute, type Route } from '../../src/domain/swap/route.ts'
import type { SearchOptions } from '../../src/domain/swap/search.ts'

/*
 * Markets of Balancer's pools, where one pool is several edges, and stable pools stand so far from each other that circles earn.
 * There the dual bound says nothing: it counts what circles earn. What a route pays is held to what others found.
 */
const free: SearchOptions = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }

function drawn(size: number, seed: number, index: number): { market: BalancerMarket; trade: Trade } {
  const market = createBalancerMarket(size, seed)
  for (let n = 0; n < index; n++) market.draw()
  return { market, trade: market.draw() }
}

const nameOf = ({ tokens }: BalancerMarket, token: number) => tokens[token] ?? ''

function routeOf(market: BalancerMarket, { source, target, amountIn }: Trade): Route | null {
  const request = { source: nameOf(market, source), target: nameOf(market, target), amountIn }
  return bestRoute(createPoolMarket(market.pools), request, free)
}

describe('markets of weighted and stable pools, against @balancer-labs/sor 4.1.3', () => {
  // Market, seed, place of the trade, and what its route pays by the vault's maths (`bench/balancer-sor.ts`).
  test.each<readonly [number, number, number, bigint]>([[100, 1, 8, 239_682_140_816_317_806_580_607n]])(
    '%i pools, seed %i, trade %i',
    (size, seed, index, theirs) => {
      const { market, trade } = drawn(size, seed, index)
      expect(routeOf(market, trade)?.amountOut).toBeGreaterThanOrEqual(theirs)
    },
  )
})
