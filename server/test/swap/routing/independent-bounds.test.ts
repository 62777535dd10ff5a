import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { certify } from '../../../src/swap/routing/certificate.ts'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { HOPS_MAX, SWAPS_MAX } from '../../../src/swap/routing/search.ts'
import { dualBound } from './dual-bound.ts'
import { leastBound } from './least-bound.ts'
import { definitionOf } from './pool-definitions.ts'
import { drawConnectedMarket, drawShapedMarket, kindsOf } from './random-markets.ts'

const root = join(import.meta.dirname, '../../../..')

/** All files that a file imports, directly or through others, types included. */
function findImports(file: string, found = new Set<string>()): ReadonlySet<string> {
  for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)) {
    const imported = relative(root, join(root, dirname(file), path))
    if (found.has(imported)) continue
    found.add(imported)
    findImports(imported, found)
  }
  return found
}

const tested = 'server/test/swap/routing'
const routing = 'server/src/swap/routing'

/** The mathematics of pools, which other tests compare with the contracts. */
const isPoolMaths = (path: string) =>
  path.startsWith(`${routing}/pools/`) ||
  [`${routing}/pool-kinds.ts`, `${routing}/pool.ts`, `${routing}/curve.ts`].includes(path)

test.each(['dual-bound.ts', 'exhaustive-search.ts', 'hop-bound.ts', 'least-bound.ts'])(
  'H1: %s imports nothing of the search',
  (file) => {
    const imports = [...findImports(`${tested}/${file}`)]
    expect(imports.length).toBeGreaterThan(0)
    expect(imports.filter((path) => path.startsWith(`${routing}/`) && !isPoolMaths(path))).toEqual([])
    expect(findImports(`${tested}/optimality.test.ts`)).toContain(`${routing}/dual.ts`)
  },
)

test('the definitions of pools use nothing of the program but types', () => {
  const text = readFileSync(join(root, tested, 'pool-definitions.ts'), 'utf8')
  const imports = text.match(/^import .*$/gm)
  expect(imports).toEqual(["import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'"])
})

/** Share of the first price at which the last unit trades. */
const LAST_PRICES = [0.9999, 0.99, 0.5]
/** Ticks and bins of the contracts, whose prices are rounded. */
const PRECISION = 1e-6
/** Base units that a contract rounds off. */
const ROUNDED = 5

const withoutStable = Object.entries(kindsOf).filter(([name]) => name !== 'stable')

test.each(withoutStable)('pools pay what the definitions of their DEXes say, and never more: %s', (_name, kinds) => {
  let count = 0
  for (const pool of drawConnectedMarket(7, kinds, { least: 1_000, most: 1e5 }).pools)
    for (const [from, to] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const definition = definitionOf(pool, from, to)
      if (definition === null) continue
      const outputOf = (input: number) => Number(swapExact(pool, from, to, BigInt(Math.floor(input)))?.amountOut ?? 0n)
      const first = firstPriceOf(definition)
      for (const last of LAST_PRICES) {
        const worth = 1 / (first * last)
        const { profit, amountIn, amountOut } = definition(1, worth)
        // The last units of a pool may not trade. DeepBook aborts where the fee of all fills is a unit more than the fees of each.
        const paid = Math.max(...[1e-9, 1e-7].map((less) => outputOf(amountIn * (1 - less))))
        const lots = pool.kind === 'deepbook' ? (2 * Number(pool.lotSize)) / (from === 0 ? amountIn : amountOut) : 0
        const rounded = ROUNDED / amountIn + ROUNDED / amountOut
        expect(paid / amountOut).toBeGreaterThan(1 - PRECISION - rounded - lots)
        for (const share of [0.01, 0.3, 0.9, 1.1, 5]) {
          const input = Math.floor(amountIn * share)
          expect(worth * outputOf(input) - input).toBeLessThanOrEqual(profit + PRECISION * worth * amountOut)
        }
        count++
      }
    }
  expect(count).toBeGreaterThan(20)
})

/** Output of the first units, by bisection of the price at which nothing is earned. */
function firstPriceOf(definition: (cost: number, worth: number) => { profit: number }): number {
  let [low, high] = [1e-12, 1e12]
  while (high / low > 1 + 1e-12) {
    const middle = Math.sqrt(low * high)
    if (definition(1, 1 / middle).profit > 0) low = middle
    else high = middle
  }
  return low
}

/** Numbers that repeat in each run. */
const factorOf = (seed: number, token: string) => Math.exp(Math.sin(seed * 12.9898 + Number(token) * 78.233) * 3)

test.each(Object.entries(kindsOf))('H1: no route pays more than the bound at any prices: %s', (_name, kinds) => {
  let count = 0
  for (let seed = 0; seed < 3; seed++)
    for (const { pools, request } of [
      drawConnectedMarket(seed, kinds, { least: 1_000, most: 1e5 }),
      drawShapedMarket('ring', seed, kinds, { least: 1_000, most: 1e5 }),
    ]) {
      const options = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice: 0, isOver: () => false }
      const route = bestRoute(createPoolMarket(pools), request, options)
      if (route === null) continue
      const amountOut = Number(route.amountOut)
      const tokens = [...new Set(pools.flatMap((pool) => pool.tokens))]
      for (const spread of [seed, seed + 100]) {
        // Prices that have nothing to do with the market.
        const prices = new Map(tokens.map((token) => [token, factorOf(spread, token)]))
        prices.set(request.target, 1)
        expect(dualBound(pools, request, prices, route.amountOut)).toBeGreaterThanOrEqual(amountOut)
        const costOf = (_pool: Pool) => amountOut / 500
        const net = amountOut - (route.swaps.length * amountOut) / 500
        expect(dualBound(pools, request, prices, route.amountOut, costOf)).toBeGreaterThanOrEqual(net)
        count++
      }
    }
  expect(count).toBeGreaterThan(5)
})

test('H1: the bound of one pool is its output at the price that it leaves, less the cost of a swap', () => {
  const pool: Pool = {
    ...{ kind: 'uniswap-v2', id: '1', address: '1', dex: 'test', tokens: ['a', 'b'], feePpm: 0 },
    reserves: [10n ** 24n, 10n ** 24n],
  }
  const request = { source: 'a', target: 'b', amountIn: 10n ** 23n }
  // Reserves of 1 and 1, and 0.1 in: 1/11 out; the price is then 1/1.1².
  const prices = new Map([
    ['a', 1 / 1.21],
    ['b', 1],
  ])
  const output = 1e24 / 11
  expect(dualBound([pool], request, prices, BigInt(output)) / output).toBeCloseTo(1, 9)
  expect(dualBound([pool], request, prices, BigInt(output), () => 2 * output) / output).toBeCloseTo(-1, 9)
  expect(() => dualBound([pool], request, new Map([['b', 1]]), 1n)).toThrow('token a has the price NaN')
})

// Golden section over exact swaps of stable pools would take minutes.
test.each(withoutStable.filter(([name]) => name !== 'every kind'))(
  'routes reach the least bound over all prices, also from other prices than those of the search: %s',
  (_name, kinds) => {
    let count = 0
    for (let seed = 0; seed < 6; seed++) {
      const { pools, request } = drawShapedMarket('islands', seed, kinds, { least: 1_000, most: 1e5 })
      const market = createPoolMarket(pools)
      const route = bestRoute(market, request, { hopsMax: 21, swapsMax: 100, gasPrice: 0, isOver: () => false })
      if (route === null) continue
      const { values } = certify(market, request, 0, { execution: route, values: route.values })
      const least = leastBound(pools, request, values, Number(route.amountOut))
      expect(least.bound / dualBound(pools, request, values, route.amountOut)).toBeLessThan(1 + 1e-12)
      expect(Number(route.amountOut) / least.bound).toBeLessThan(1 + 1e-9)
      // From prices that have nothing to do with the search.
      const other = new Map([...values].map(([token, value]) => [token, token === request.target ? 1 : value * 1.3]))
      const found = leastBound(pools, request, other, Number(route.amountOut))
      expect(Number(route.amountOut) / found.bound).toBeGreaterThan(0.9999)
      count++
    }
    expect(count).toBeGreaterThan(3)
  },
)
