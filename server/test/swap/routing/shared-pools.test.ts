import { describe, expect, test } from 'vitest'
import { type BalancerMarket, createBalancerMarket } from '../../../../bench/balancer-markets.ts'
import type { Trade } from '../../../../bench/swap-markets.ts'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute, type Route } from '../../../src/swap/routing/route.ts'
import type { SearchOptions } from '../../../src/swap/routing/search.ts'

/*
 * Markets of Balancer pools: one pool is several edges, and the prices of stable pools differ so much that cycles are profitable. The dual
 * bound is useless here, because it includes the profit of cycles. Routes are compared with another router and with an exhaustive search.
 */
const unlimited: SearchOptions = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }

function drawTrade(size: number, seed: number, index: number): { market: BalancerMarket; trade: Trade } {
  const market = createBalancerMarket(size, seed)
  for (let n = 0; n < index; n++) market.draw()
  return { market, trade: market.draw() }
}

const nameOf = ({ tokens }: BalancerMarket, token: number): string => tokens[token] ?? ''

function routeOf(market: BalancerMarket, { source, target, amountIn }: Trade): Route | null {
  const request = { source: nameOf(market, source), target: nameOf(market, target), amountIn }
  return bestRoute(createPoolMarket(market.pools), request, unlimited)
}

// Pools, seed, index of the trade, and the output of the router's route by the vault's maths (`bench/balancer-sor.ts`).
test.each<readonly [number, number, number, bigint]>([
  [100, 1, 8, 239_682_140_816_317_806_580_607n],
  [100, 4, 0, 5_858_610_738_048_317_642_363n],
  [100, 9, 13, 1_846_275_301_210_829_060_863n],
])(
  '%i pools, seed %i, trade %i: pays at least as much as @balancer-labs/sor 4.1.3',
  (size, seed, index, referenceOutput) => {
    const { market, trade } = drawTrade(size, seed, index)
    expect(routeOf(market, trade)?.amountOut).toBeGreaterThanOrEqual(referenceOutput)
  },
)

type Step = Readonly<{ id: string; tokenIn: string; tokenOut: string }>
type Steps = readonly Step[]

/** Output of a path, which also updates `states`. Null if a pool would revert. */
function payPath(states: Map<string, Pool>, path: Steps, amountIn: bigint): bigint | null {
  let amount = amountIn
  for (const { id, tokenIn, tokenOut } of path) {
    const pool = states.get(id)
    const result =
      pool === undefined ? null : swapExact(pool, pool.tokens.indexOf(tokenIn), pool.tokens.indexOf(tokenOut), amount)
    if (result === null) return null
    states.set(id, result.next)
    amount = result.amountOut
  }
  return amount
}

function pathsOf({ pools }: BalancerMarket, source: string, target: string): readonly Steps[] {
  const from = pools.filter(({ tokens }) => tokens.includes(source))
  const to = pools.filter(({ tokens }) => tokens.includes(target))
  const direct = from
    .filter((pool) => to.includes(pool))
    .map(({ id }) => [{ id, tokenIn: source, tokenOut: target }] as const)
  const overOne = from.flatMap((first) =>
    to.flatMap((second) =>
      first.tokens
        .filter((token) => token !== source && token !== target && second.tokens.includes(token))
        .map((token) => [
          { id: first.id, tokenIn: source, tokenOut: token },
          { id: second.id, tokenIn: token, tokenOut: target },
        ]),
    ),
  )
  return [...direct, ...overOne]
}

/** Less a millionth: splits are only as precise as sampled curves. */
const withTolerance = (amount: bigint): bigint => (amount * 999_999n) / 1_000_000n
const PATHS_MAX = 10
const PARTS = 12n

/** Best output of two consecutive paths of up to two hops through the same pools, over all divisions of the input into twelfths. */
function bestOfTwo(market: BalancerMarket, { source, target, amountIn }: Trade): bigint {
  const states = () => new Map<string, Pool>(market.pools.map((pool) => [pool.id, pool]))
  const rank = (amount: bigint) => {
    const output = pathsOf(market, nameOf(market, source), nameOf(market, target)).map((path) => ({
      path,
      output: payPath(states(), path, amount) ?? 0n,
    }))
    return output.sort((a, b) => (a.output < b.output ? 1 : -1)).slice(0, PATHS_MAX)
  }
  const ranked = rank(amountIn)
  const paths = [
    ...new Map([...ranked, ...rank(amountIn / PARTS)].map(({ path }) => [JSON.stringify(path), path])).values(),
  ]
  let best = ranked[0]?.output ?? 0n
  for (const first of paths) {
    for (const second of paths) {
      if (first === second) continue
      for (let part = 1n; part < PARTS; part++) {
        const poolStates = states()
        const firstAmount = (amountIn * part) / PARTS
        const firstOutput = payPath(poolStates, first, firstAmount)
        const secondOutput = firstOutput === null ? null : payPath(poolStates, second, amountIn - firstAmount)
        if (firstOutput !== null && secondOutput !== null && firstOutput + secondOutput > best)
          best = firstOutput + secondOutput
      }
    }
  }
  return best
}

describe('in markets of 20 pools routes pay at least as much as any two paths of two hops', () => {
  test.each([1, 2, 3, 4])('seed %i', (seed) => {
    const market = createBalancerMarket(20, seed)
    for (let n = 0; n < 12; n++) {
      const trade = market.draw()
      expect(routeOf(market, trade)?.amountOut ?? 0n).toBeGreaterThanOrEqual(withTolerance(bestOfTwo(market, trade)))
    }
  })
})
