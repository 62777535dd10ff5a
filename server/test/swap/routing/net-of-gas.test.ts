import { describe, expect, test } from 'vitest'
import { createSwapMarket } from '../../../../bench/swap-markets.ts'
import { createUniswapMarket } from '../../../../bench/uniswap-markets.ts'
import { curveAt } from '../../../src/swap/routing/market.ts'
import { swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket, type PoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute, type Route } from '../../../src/swap/routing/route.ts'
import { HOPS_MAX, type SearchOptions, SWAPS_MAX } from '../../../src/swap/routing/search.ts'

/* Routes with the limits of production, net of gas. */
const production: SearchOptions = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice: 0, isOver: () => false }
const netOf = ({ amountOut, gas }: Pick<Route, 'amountOut' | 'gas'>, gasPrice: number) =>
  Number(amountOut) - gas * gasPrice

/** All simple paths of up to HOPS_MAX pools, with their exact output and gas. */
function findAllPaths({ pools, market }: PoolMarket, source: string, target: string, amountIn: bigint) {
  const gasOf = new Map<string, number>()
  for (let edge = 0; edge < market.pool.length; edge++) {
    const pool = pools[market.pool[edge] as number]
    if (pool !== undefined) gasOf.set(pool.id, curveAt(market, edge).gas)
  }
  const paths: Pick<Route, 'amountOut' | 'gas'>[] = []
  const extend = (at: string, amountOut: bigint, visited: readonly string[], gas: number): void => {
    if (at === target) paths.push({ amountOut, gas })
    if (at === target || visited.length > HOPS_MAX) return
    for (const pool of pools) {
      const from = pool.tokens.indexOf(at)
      for (const [to, next] of pool.tokens.entries()) {
        if (from < 0 || visited.includes(next)) continue
        const result = swapExact(pool, from, to, amountOut)
        if (result !== null) extend(next, result.amountOut, [...visited, next], gas + (gasOf.get(pool.id) ?? 0))
      }
    }
  }
  extend(source, amountIn, [source], 0)
  return paths
}

describe.each([
  ['without a time limit', false],
  ['with an expired time limit', true],
])('%s', (_name, isOver) => {
  test('routes net at least the best single path after gas', () => {
    let count = 0
    for (let seed = 1; seed <= 60; seed++) {
      const generated = createUniswapMarket(14, seed)
      const market = createPoolMarket(generated.pools)
      for (let trade = 0; trade < 4; trade++) {
        const { source, target, amountIn } = generated.draw()
        const [from, to] = [generated.tokens[source] ?? '', generated.tokens[target] ?? '']
        const paths = findAllPaths(market, from, to, amountIn)
        const bestOutput = Math.max(...paths.map(({ amountOut }) => Number(amountOut)))
        // A swap of 80,000 gas costs 0.01 %, 0.2 % or 1 % of the output.
        for (const gasPrice of [1e-4, 2e-3, 1e-2].map((share) => (share * bestOutput) / 80_000)) {
          if (paths.length === 0) continue
          const route = bestRoute(
            market,
            { source: from, target: to, amountIn },
            { ...production, gasPrice, isOver: () => isOver },
          )
          if (route === null) throw new Error(`market ${seed}: no route`)
          const best = Math.max(...paths.map((path) => netOf(path, gasPrice)))
          expect((best - netOf(route, gasPrice)) / bestOutput, `market ${seed}, trade ${trade}`).toBeLessThan(1e-9)
          count++
        }
      }
    }
    expect(count).toBeGreaterThan(400)
  })
})

test('routes of up to four hops net at least what routes of fewer hops net', () => {
  const generated = createSwapMarket(20, 12_365)
  const market = createPoolMarket(generated.pools)
  const swapGas = curveAt(market.market, 0).gas
  for (let trade = 0; trade < 200; trade++) {
    const { source, target, amountIn } = generated.draw()
    // Two dollars for the gas of a swap; tokens have 18 decimals.
    const gasPrice = 2e18 / (generated.usd[target] ?? 1) / swapGas
    const request = { source: generated.tokens[source] ?? '', target: generated.tokens[target] ?? '', amountIn }
    const [fewest = 0, fewer = 0, most = 0] = [2, 3, 4].map((hopsMax) => {
      const route = bestRoute(market, request, { ...production, hopsMax, gasPrice })
      return route === null ? 0 : netOf(route, gasPrice)
    })
    expect(Math.max(fewest, fewer) / most - 1, `trade ${trade}`).toBeLessThan(1e-9)
  }
})
