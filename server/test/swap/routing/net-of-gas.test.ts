import { describe, expect, test } from 'vitest'
import { createUniswapMarket } from '../../../../bench/uniswap-markets.ts'
import { curveAt } from '../../../src/swap/routing/market.ts'
import { swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket, type PoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute, type Route } from '../../../src/swap/routing/route.ts'
import { HOPS_MAX, type SearchOptions, SWAPS_MAX } from '../../../src/swap/routing/search.ts'

/* Routes as production asks for them: gas counts, four hops, so many swaps. */
const usual: SearchOptions = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice: 0, isOver: () => false }
const netOf = ({ amountOut, gas }: Pick<Route, 'amountOut' | 'gas'>, gasPrice: number) =>
  Number(amountOut) - gas * gasPrice

/** Every path of up to four pools through different tokens, with what it pays, in exact units, and its gas. */
function everyPath({ pools, market }: PoolMarket, source: string, target: string, amountIn: bigint) {
  const gasOf = new Map<string, number>()
  for (let edge = 0; edge < market.pool.length; edge++) {
    const pool = pools[market.pool[edge] as number]
    if (pool !== undefined) gasOf.set(pool.id, curveAt(market, edge).gas)
  }
  const paths: Pick<Route, 'amountOut' | 'gas'>[] = []
  const goOn = (at: string, amountOut: bigint, passed: readonly string[], gas: number): void => {
    if (at === target) paths.push({ amountOut, gas })
    if (at === target || passed.length > HOPS_MAX) return
    for (const pool of pools) {
      const from = pool.tokens.indexOf(at)
      for (const [to, next] of pool.tokens.entries()) {
        if (from < 0 || passed.includes(next)) continue
        const swapped = swapExact(pool, from, to, amountOut)
        if (swapped !== null) goOn(next, swapped.amountOut, [...passed, next], gas + (gasOf.get(pool.id) ?? 0))
      }
    }
  }
  goOn(source, amountIn, [source], 0)
  return paths
}

describe.each([
  ['with all the time it takes', false],
  ['when time is up at once', true],
])('%s', (_name, isOver) => {
  test('never less than the best single path net of gas, by pools that differ in gas', () => {
    let count = 0
    for (let seed = 1; seed <= 60; seed++) {
      const drawn = createUniswapMarket(14, seed)
      const market = createPoolMarket(drawn.pools)
      for (let trade = 0; trade < 4; trade++) {
        const { source, target, amountIn } = drawn.draw()
        const [from, to] = [drawn.tokens[source] ?? '', drawn.tokens[target] ?? '']
        const paths = everyPath(market, from, to, amountIn)
        const most = Math.max(...paths.map(({ amountOut }) => Number(amountOut)))
        // A swap costs a ten-thousandth of the output, to a hundredth.
        for (const gasPrice of [1e-4, 2e-3, 1e-2].map((share) => (share * most) / 80_000)) {
          if (paths.length === 0) continue
          const route = bestRoute(
            market,
            { source: from, target: to, amountIn },
            { ...usual, gasPrice, isOver: () => isOver },
          )
          if (route === null) throw new Error(`market ${seed}: no route`)
          const best = Math.max(...paths.map((path) => netOf(path, gasPrice)))
          expect((best - netOf(route, gasPrice)) / most, `market ${seed}, trade ${trade}`).toBeLessThan(1e-9)
          count++
        }
      }
    }
    expect(count).toBeGreaterThan(400)
  })
})
