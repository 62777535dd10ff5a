import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { certify } from '../../../src/swap/routing/certificate.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { dualBound } from './dual-bound.ts'

/*
 * Bounds of markets in which two pools of the same tokens have different prices. A route may enter a token by one and leave by the other,
 * also if the token has no other neighbour.
 */

const E18 = 10n ** 18n
const createPool = (
  id: string,
  tokens: readonly [string, string],
  reserves: readonly [bigint, bigint],
  feePpm = 3000,
) => ({ kind: 'uniswap-v2', id, address: id, dex: 'test', tokens, reserves, feePpm }) satisfies Pool

const UNLIMITED = { swapsMax: Number.POSITIVE_INFINITY, isOver: () => false }

describe('H1: a token with two pools to its only neighbour', () => {
  const million = 1_000_000n * E18
  const pools = [
    createPool('a', ['0', '2'], [million, million]),
    createPool('b', ['2', '3'], [million, million]),
    createPool('c', ['2', '3'], [(million * 11n) / 10n, million]),
    createPool('d', ['2', '1'], [million, million]),
  ]
  const request = { source: '0', target: '1', amountIn: 1000n * E18 }
  // 1000 units by the formula of a constant product: 0 → 2 → 3 by pool b, 3 → 2 by pool c, 2 → 1.
  const outputOf = (units: number, reserveIn: number, reserveOut: number) =>
    (units * 0.997 * reserveOut) / (reserveIn + units * 0.997)
  const income = outputOf(outputOf(outputOf(outputOf(1e3, 1e6, 1e6), 1e6, 1e6), 1e6, 1.1e6), 1e6, 1e6)

  test('is passed by a route that pays eight percent more', () => {
    const swap = (pool: Pool | undefined, tokenIn: number) => {
      if (pool === undefined) throw new Error('no pool')
      return { pool, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }
    }
    const swaps = [swap(pools[0], 0), swap(pools[1], 0), swap(pools[2], 1), swap(pools[3], 0)]
    expect(Number(executeRoute(swaps, '0', '1', request.amountIn).amountOut) / 1e18).toBeCloseTo(income, 6)
    expect(income).toBeGreaterThan(1080)
  })

  test.each([0, 1, 1e12])('counts in the certificate, at %d base units of the target per unit of gas', (gasPrice) => {
    const market = createPoolMarket(pools)
    const route = bestRoute(market, request, { ...UNLIMITED, hopsMax: 4, gasPrice })
    if (route === null) throw new Error('no route')
    const { bound } = certify(market, request, gasPrice, { execution: route, values: route.values })
    const swapGas = route.gas / route.swaps.length
    expect(bound).toBeGreaterThan(income * 1e18 - pools.length * swapGas * gasPrice)
  })

  test('counts in the bound of the tests', () => {
    const values = new Map(['0', '1', '2', '3'].map((token) => [token, 1]))
    expect(dualBound(pools, request, values, 992n * E18)).toBeGreaterThan(income * 1e18)
  })
})

test('H1: prices settle along a path of 70 hops', () => {
  const HOPS = 70
  const tokenOf = (hop: number) => (hop === 0 ? '0' : hop === HOPS ? '1' : String(hop + 1))
  const pools = Array.from({ length: HOPS }, (_, hop) =>
    createPool(String(hop), [tokenOf(hop), tokenOf(hop + 1)], [1_000_000n * E18, 1_000_000n * E18], 100),
  )
  const request = { source: '0', target: '1', amountIn: 1000n * E18 }
  for (const ordered of [pools, pools.toReversed()]) {
    const market = createPoolMarket(ordered)
    const route = bestRoute(market, request, { ...UNLIMITED, hopsMax: HOPS, gasPrice: 0 })
    if (route === null) throw new Error('no route')
    const { bound } = certify(market, request, 0, { execution: route, values: route.values })
    expect(bound).toBeGreaterThanOrEqual(Number(route.amountOut))
    expect(bound).toBeLessThan(Number(route.amountOut) * 1.001)
  }
})

test('H1: no route of a market with differences of price nets more than its bound, whatever gas costs', () => {
  const reserve = fc
    .double({ min: 3, max: 12, noNaN: true })
    .map((power) => BigInt(Math.round(10 ** power)) * 10n ** 9n)
  const token = fc.nat(6)
  const fields = fc
    .tuple(token, token, reserve, reserve, fc.constantFrom(0, 300, 3000, 10_000, 300_000))
    .filter(([a, b]) => a !== b)
  const amount = fc.double({ min: 6, max: 18, noNaN: true }).map((power) => BigInt(Math.round(10 ** power)))
  fc.assert(
    fc.property(
      fc.array(fields, { minLength: 2, maxLength: 12 }),
      amount,
      fc.constantFrom(0, 1e-3, 1e-2),
      (drawn, amountIn, gasShare) => {
        const pools = drawn.map(([a, b, reserveA, reserveB, feePpm], id) =>
          createPool(String(id), [String(a), String(b)], [reserveA, reserveB], feePpm),
        )
        const market = createPoolMarket(pools)
        const request = { source: '0', target: '1', amountIn }
        const free = bestRoute(market, request, { ...UNLIMITED, hopsMax: 7, gasPrice: 0 })
        fc.pre(free !== null)
        const gasPrice = (Number(free.amountOut) * gasShare) / 62_000
        const route = bestRoute(market, request, { ...UNLIMITED, hopsMax: 7, gasPrice }) ?? free
        const { bound } = certify(market, request, gasPrice, { execution: route, values: route.values })
        const net = Math.max(...[free, route].map(({ amountOut, gas }) => Number(amountOut) - gas * gasPrice))
        expect(bound).toBeGreaterThanOrEqual(net * (1 - 1e-9) - 1)
      },
    ),
    { numRuns: 300, maxSkipsPerRun: 9 },
  )
})
