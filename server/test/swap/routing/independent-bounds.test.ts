import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { HOPS_MAX, SWAPS_MAX } from '../../../src/swap/routing/search.ts'
import { dualBound } from './dual-bound.ts'
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

test.each(['dual-bound.ts', 'exhaustive-search.ts', 'hop-bound.ts'])('H1: %s imports nothing of the search', (file) => {
  const imports = [...findImports(`${tested}/${file}`)]
  expect(imports.length).toBeGreaterThan(0)
  expect(imports.filter((path) => path.startsWith(`${routing}/`) && !isPoolMaths(path))).toEqual([])
  expect(findImports(`${tested}/optimality.test.ts`)).toContain(`${routing}/dual.ts`)
})

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
