import { expect, test } from 'vitest'
import { fourHopBound } from '../../../../bench/hop-bound.ts'
import { createSwapMarket } from '../../../../bench/swap-markets.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'

/*
 * Trades of the benchmark's markets where four hops are hard to use well. What another router pays there with at most so many,
 * by its own account in float64, was recorded from @sushiswap/tines 1.0.11 with gas free.
 */
const trades = [
  { pools: 20, seed: 12_365, trade: 158, paid: 65_976_040_016_968_940_000 },
  { pools: 100, seed: 12_445, trade: 59, paid: 304_087_041_535_764_700 },
  { pools: 100, seed: 12_445, trade: 183, paid: 236_455_663_038_642_320_000 },
  { pools: 100, seed: 778, trade: 6, paid: 1.304_585_847_868_133_7e21 },
  { pools: 100, seed: 778, trade: 112, paid: 62_160_965_469_563_570_000 },
  { pools: 100, seed: 778, trade: 133, paid: 2.723_367_180_544_430_3e21 },
  { pools: 100, seed: 32, trade: 143, paid: 9.624_265_017_993_54e22 },
]

test.each(trades)('trade $trade of $pools pools, market $seed', ({ pools, seed, trade, paid }) => {
  const market = createSwapMarket(pools, seed)
  for (let n = 0; n < trade; n++) market.draw()
  const { source, target, amountIn } = market.draw()
  const request = { source: market.tokens[source] ?? '', target: market.tokens[target] ?? '', amountIn }
  const options = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }
  const route = bestRoute(createPoolMarket(market.pools), request, options)
  expect(Number(route?.amountOut)).toBeGreaterThan(paid * (1 - 1e-9))
})

/*
 * Trades in which a router without a limit of hops pays more, or in which paths of four hops each join and part so that along
 * the route five swaps follow one another. The bound is certified by its values alone (`bench/hop-bound.ts`).
 */
test('trades of a market reach what paths of four hops can pay at most', { timeout: 60_000 }, () => {
  const market = createSwapMarket(100, 12_445)
  const pools = createPoolMarket(market.pools)
  const options = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }
  const short = Array.from({ length: 160 }, () => {
    const trade = market.draw()
    const { source, target, amountIn } = trade
    const request = { source: market.tokens[source] ?? '', target: market.tokens[target] ?? '', amountIn }
    const bound = fourHopBound(market, trade)
    return bound === 0 ? 0 : 1 - Number(bestRoute(pools, request, options)?.amountOut) / bound
  })
  expect(Math.max(...short)).toBeLessThan(1e-8)
  expect(Math.min(...short)).toBeGreaterThan(-1e-10)
})
