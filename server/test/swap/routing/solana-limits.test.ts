import { describe, expect, test } from 'vitest'
import { bestStatedRoute } from '../../../src/adapters/router/stated-route.ts'
import type { RouteLimits } from '../../../src/swap/ports/pools.ts'
import { certify } from '../../../src/swap/routing/certificate.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute, type RouteRequest } from '../../../src/swap/routing/route.ts'
import { leastBound, netBound } from './least-bound.ts'
import { drawTwoHopMarket, kindsOf, type TradeSizes } from './random-markets.ts'

/*
 * Routes with the limits of Solana: two hops, four swaps, and a second hop that spends only the guaranteed output of the first. The bound
 * knows these three, and not the bytes of a transaction. It uses nothing of the search.
 */
const limits: RouteLimits = { hopsMax: 2, swapsMax: 4, marginMaxPpm: 10_000, fits: () => true }
const slippagePpm = 5_000
const options = { gasPrice: 0, isOver: () => false }
const CASES_MAX = 200
const MARKETS = 16
const WORST_MIN = 0.9999
/** Pools have 10⁵ to 10⁶ USD. */
const sizes: TradeSizes = { least: 1_000, most: 2e5 }

/** Output as a share of the bound, and of what an unlimited router would pay. Null without a route. */
function sharesOf(pools: readonly Pool[], request: RouteRequest) {
  const { source: tokenIn, target: tokenOut, amountIn } = request
  const market = createPoolMarket(pools)
  const route = bestStatedRoute(market, { network: 'sol', tokenIn, tokenOut, amountIn, slippagePpm }, limits, options)
  if (route === null || route === 'too-large') return null
  expect(route.swaps.length).toBeLessThanOrEqual(limits.swapsMax)
  const unlimited = { ...options, hopsMax: 21, swapsMax: Number.POSITIVE_INFINITY }
  const free = bestRoute(market, request, unlimited)
  if (free === null) throw new Error('without limits there is no route')
  const { values } = certify(market, request, 0, { execution: free, values: free.values })
  const known = Number(route.amountOut)
  const ofSolana = { swapsMax: limits.swapsMax, hasTwoHops: true, marginPpm: slippagePpm }
  // A route cannot claim what its second hop is not sure to get.
  expect(known / leastBound(pools, request, values, known, ofSolana).bound).toBeLessThan(1 + 1e-6)
  const { bound } = netBound(pools, request, ofSolana, { start: values, known, casesMax: CASES_MAX })
  return { ofBound: known / bound, ofFree: known / Number(free.amountOut) }
}

const solanaKinds = ['Raydium CPMM', 'Raydium CLMM', 'Raydium AMM v4', 'Meteora DLMM', 'Meteora DAMM v2', 'PumpSwap']

describe('routes with the limits of Solana reach the bound with these limits', () => {
  // The four least profitable of six swaps left one of two hops without the other: 0.92.
  test.each([...solanaKinds, 'Solana'])('%s', (name) => {
    const kinds = kindsOf[name]
    if (kinds === undefined) throw new Error(`no pools of ${name}`)
    const shares = Array.from({ length: MARKETS }, (_, seed) => {
      const { pools, request } = drawTwoHopMarket(seed, kinds, sizes)
      return sharesOf(pools, request) ?? []
    }).flat()
    const [worst, worstOfFree] = [
      Math.min(...shares.map(({ ofBound }) => ofBound)),
      Math.min(...shares.map(({ ofFree }) => ofFree)),
    ]
    console.info(`${name}: worst ${worst} of ${shares.length}; of an unlimited route ${worstOfFree}`)
    // Of CLMM only the ticks that are read count, and some trades exceed them.
    expect(shares.length).toBeGreaterThanOrEqual(MARKETS - 2)
    expect(worst).toBeGreaterThanOrEqual(WORST_MIN)
  })
})

/** Reserves in millions of base units, without a fee. */
function pool(id: string, tokens: readonly [string, string], reserves: readonly [bigint, bigint]): Pool {
  const units = [reserves[0] * 10n ** 12n, reserves[1] * 10n ** 12n] as const
  return { kind: 'uniswap-v2', id, address: id, dex: 'test', tokens, feePpm: 0, reserves: units }
}

/** What a constant product of two equal reserves pays. */
const payOf = (units: number, depth: number) => (units * depth) / (depth + units)

test('four swaps are two whole paths, not a half of each', () => {
  // Of three paths, the deep pools earn least. Without two of them, two paths lack a hop.
  const pools = [
    pool('0', ['a', 'b'], [60n, 60n]),
    ...[pool('1', ['a', 'x'], [1_000n, 1_000n]), pool('2', ['x', 'b'], [90_000n, 90_000n])],
    ...[pool('3', ['a', 'y'], [90_000n, 90_000n]), pool('4', ['y', 'b'], [950n, 950n])],
    ...[pool('5', ['a', 'z'], [900n, 900n]), pool('6', ['z', 'b'], [900n, 900n])],
  ]
  const order = { network: 'sol', tokenIn: 'a', tokenOut: 'b', amountIn: 500n * 10n ** 12n }
  const route = bestStatedRoute(createPoolMarket(pools), order, limits, options)
  if (route === null || route === 'too-large') throw new Error('no route')
  // Halves through the first two paths, by the formula of a constant product.
  const halves = payOf(payOf(250, 1_000), 90_000) + payOf(payOf(250, 90_000), 950)
  expect(route.swaps.map(({ pool: { id } }) => id).sort()).toEqual(['1', '2', '3', '4'])
  expect(Number(route.amountOut) / 1e12).toBeGreaterThanOrEqual(halves * (1 - 1e-9))
})

test('a direct pool gets more of the amount where a part of the intermediate token remains', () => {
  const pools = [
    pool('1', ['a', 'b'], [1_000n, 1_000n]),
    ...[pool('2', ['a', 'x'], [10_000n, 10_000n]), pool('3', ['x', 'b'], [10_000n, 10_000n])],
  ]
  const amountIn = 100n * 10n ** 12n
  const order = { network: 'sol', tokenIn: 'a', tokenOut: 'b', amountIn, slippagePpm: 10_000 }
  const route = bestStatedRoute(createPoolMarket(pools), order, limits, options)
  if (route === null || route === 'too-large') throw new Error('no route')
  // The most over all splits, in ten-thousandths.
  const splits = Array.from({ length: 10_001 }, (_, part) => part / 100)
  const most = splits.map((direct) => payOf(direct, 1_000) + payOf(0.99 * payOf(100 - direct, 10_000), 10_000))
  const share = Number(route.amountOut) / 1e12 / Math.max(...most)
  expect(share).toBeGreaterThanOrEqual(1 - 1e-9)
  expect(share).toBeLessThanOrEqual(1 + 1e-6)
})
