import { expect, test } from 'vitest'
import { certify } from '../../../src/swap/routing/certificate.ts'
import { curveOf, type Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { HOPS_MAX, SWAPS_MAX } from '../../../src/swap/routing/search.ts'
import { dualBound } from './dual-bound.ts'
import { listRoutes } from './exhaustive-search.ts'
import { drawSmallMarket, kindsOf, type TradeSizes } from './random-markets.ts'

/* With limits of hops and swaps as in production and with gas counted, against all routes of small markets. */
const WORST_MIN = 0.9999
const ROUNDING = 1e-9
/** The certificate is as precise as the curves, which for these kinds are sampled or fitted. */
const CURVES = 1e-4
const hasExactCurves = (name: string) => name === 'constant product' || name === 'concentrated'
const MARKETS = 16
/** Pools have 10⁵ to 10⁶ USD. */
const sizes: TradeSizes = { least: 1_000, most: 2e5 }
/** Cost of 100,000 gas, as a share of what the best route pays without gas. */
const GAS_SHARES = [1e-5, 1e-3, 1e-2]

const gasOf = (pool: Pool): number => curveOf(pool, 0, 1)?.gas ?? 0

test.each(Object.entries(kindsOf))('H5: with gas, routes net what the best of all routes nets: %s', (name, kinds) => {
  const shares: number[] = []
  let count = 0
  for (let seed = 0; seed < MARKETS; seed++) {
    const { pools, request } = drawSmallMarket(seed, kinds, sizes)
    const market = createPoolMarket(pools)
    const all = listRoutes(pools, request, HOPS_MAX)
    const most = Math.max(0, ...all.map(({ output }) => output))
    for (const hopsMax of [2, 3, HOPS_MAX]) {
      const routes = all.filter(({ hops }) => hops <= hopsMax)
      for (const gasShare of routes.length === 0 ? [] : GAS_SHARES) {
        const gasPrice = (gasShare * most) / 1e5
        const costOf = (pool: Pool) => gasPrice * gasOf(pool)
        const best = Math.max(...routes.map((one) => one.pools.reduce((net, pool) => net - costOf(pool), one.output)))
        const route = bestRoute(market, request, { hopsMax, swapsMax: SWAPS_MAX, gasPrice, isOver: () => false })
        if (route === null) throw new Error(`market ${seed}: no route`)
        const net = route.swaps.reduce((sum, { pool }) => sum - costOf(pool), Number(route.amountOut))
        const certificate = certify(market, request, gasPrice, { execution: route, values: route.values })
        const bound = dualBound(pools, request, certificate.values, route.amountOut, costOf)
        const at = `market ${seed}, ${hopsMax} hops, gas ${gasShare}`
        expect(bound / Math.max(net, best), at).toBeGreaterThanOrEqual(1 - ROUNDING)
        const precision = hasExactCurves(name) ? ROUNDING : CURVES
        expect(certificate.bound / Math.max(net, best), at).toBeGreaterThanOrEqual(1 - precision)
        // The certificate is what its values prove.
        expect(certificate.bound / bound, at).toBeGreaterThanOrEqual(1 - precision)
        shares.push(net / best)
        count += routes.length
      }
    }
  }
  shares.sort((a, b) => a - b)
  console.info(`${name}: worst ${shares[0]}, most ${shares.at(-1)} of ${shares.length}; ${count} routes`)
  expect(count).toBeGreaterThan(5 * shares.length)
  expect(shares[0]).toBeGreaterThanOrEqual(WORST_MIN)
})
