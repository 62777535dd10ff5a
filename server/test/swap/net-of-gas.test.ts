import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createUniswapMarket } from '../../../bench/uniswap-markets.ts'
import { swapExact } from '../../src/domain/swap/kinds.ts'
import { curveAt } from '../../src/domain/swap/market.ts'
import { createPoolMarket, type PoolMarket } from '../../src/domain/swap/pool-market.ts'
import { bestRoute, type Route } from '../../src/domain/swap/route.ts'
import { HOPS_MAX, type SearchOptions, SWAPS_MAX } from '../../src/domain/swap/search.ts'

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

type Case = Readonly<{
  pools: readonly Readonly<{ token0: number; token1: number; reserve0: string; reserve1: string; feePpm: number }>[]
  tokenIn: number
  tokenOut: number
  amountIn: string
  upperBound: string
}>
const { cases }: { cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL('../../../vectors/routing_v2_optimality.json', import.meta.url), 'utf8'),
)

const routeOf = (one: Case, options: Partial<SearchOptions>): Route => {
  const pools = one.pools.map(({ token0, token1, reserve0, reserve1, feePpm }, id) => ({
    ...{ kind: 'uniswap-v2' as const, id: String(id), address: String(id), dex: 'test', feePpm },
    tokens: [String(token0), String(token1)] as const,
    reserves: [BigInt(reserve0), BigInt(reserve1)] as const,
  }))
  const request = { source: String(one.tokenIn), target: String(one.tokenOut), amountIn: BigInt(one.amountIn) }
  const route = bestRoute(createPoolMarket(pools), request, { ...usual, ...options })
  if (route === null) throw new Error('no route')
  return route
}

describe('markets with a certified bound', () => {
  test('so many swaps miss next to nothing where gas is free', () => {
    const shares = cases.map((one) => Number(routeOf(one, {}).amountOut) / Number(one.upperBound)).sort((a, b) => a - b)
    expect(shares[Math.floor(shares.length / 2)]).toBeGreaterThan(0.999999)
    expect(shares[0]).toBeGreaterThan(0.9999)
  })

  test('hardly a route is worth less than one that is found at another price of gas, or of fewer swaps', () => {
    const gaps = cases.flatMap((one) => {
      // One swap of Uniswap's kind costs from a millionth of the output to three thousandths.
      const prices = [1e-6, 1e-5, 1e-4, 1e-3, 3e-3].map((share) => (share * Number(one.upperBound)) / 62_000)
      const found = prices.map((gasPrice) => routeOf(one, { gasPrice }))
      const others = [...found, ...[1, 2, 3, 4, 6, 8].map((swapsMax) => routeOf(one, { swapsMax }))]
      return found.map((route, index) => {
        const gasPrice = prices[index] ?? 0
        const best = Math.max(...others.map((other) => netOf(other, gasPrice)))
        return (best - netOf(route, gasPrice)) / best
      })
    })
    gaps.sort((a, b) => b - a)
    expect(gaps[0]).toBeLessThan(1e-3)
    expect(gaps.filter((gap) => gap > 1e-7).length).toBeLessThan(gaps.length / 30)
  })
})
