import { describe, expect, test } from 'vitest'
import { type BalancerMarket, createBalancerMarket } from '../../../../bench/balancer-markets.ts'
import type { Trade } from '../../../../bench/swap-markets.ts'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute, type Route } from '../../../src/swap/routing/route.ts'
import type { SearchOptions } from '../../../src/swap/routing/search.ts'

/*
 * Markets of Balancer's pools, where one pool is several edges, and stable pools stand so far from each other that circles earn.
 * There the dual bound says nothing: it counts what circles earn. What a route pays is held to what others found, and to a search
 * that is slow but plain.
 */
const free: SearchOptions = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }

function drawn(size: number, seed: number, index: number): { market: BalancerMarket; trade: Trade } {
  const market = createBalancerMarket(size, seed)
  for (let n = 0; n < index; n++) market.draw()
  return { market, trade: market.draw() }
}

const nameOf = ({ tokens }: BalancerMarket, token: number): string => tokens[token] ?? ''

function routeOf(market: BalancerMarket, { source, target, amountIn }: Trade): Route | null {
  const request = { source: nameOf(market, source), target: nameOf(market, target), amountIn }
  return bestRoute(createPoolMarket(market.pools), request, free)
}

// Market, seed, place of the trade, and what its route pays by the vault's maths (`bench/balancer-sor.ts`).
test.each<readonly [number, number, number, bigint]>([
  [100, 1, 8, 239_682_140_816_317_806_580_607n],
  [100, 4, 0, 5_858_610_738_048_317_642_363n],
  [100, 9, 13, 1_846_275_301_210_829_060_863n],
])('%i pools, seed %i, trade %i: no less than @balancer-labs/sor 4.1.3', (size, seed, index, theirs) => {
  const { market, trade } = drawn(size, seed, index)
  expect(routeOf(market, trade)?.amountOut).toBeGreaterThanOrEqual(theirs)
})

type Step = Readonly<{ id: string; tokenIn: string; tokenOut: string }>
type Steps = readonly Step[]

/** What one path pays after another has been carried out. Null where a pool would revert. */
function pay(states: Map<string, Pool>, path: Steps, amountIn: bigint): bigint | null {
  let amount = amountIn
  for (const { id, tokenIn, tokenOut } of path) {
    const pool = states.get(id)
    const swapped =
      pool === undefined ? null : swapExact(pool, pool.tokens.indexOf(tokenIn), pool.tokens.indexOf(tokenOut), amount)
    if (swapped === null) return null
    states.set(id, swapped.next)
    amount = swapped.amountOut
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

/** The curves of these pools are sampled: splits are as exact as that. */
const floorOf = (amount: bigint): bigint => (amount * 999_999n) / 1_000_000n
const PATHS_MAX = 10
const PARTS = 12n

/** The most that two paths of up to two hops pay, each with so many twelfths, one after the other through the same pools. */
function bestOfTwo(market: BalancerMarket, { source, target, amountIn }: Trade): bigint {
  const states = () => new Map<string, Pool>(market.pools.map((pool) => [pool.id, pool]))
  const rank = (amount: bigint) => {
    const paid = pathsOf(market, nameOf(market, source), nameOf(market, target)).map((path) => ({
      path,
      paid: pay(states(), path, amount) ?? 0n,
    }))
    return paid.sort((a, b) => (a.paid < b.paid ? 1 : -1)).slice(0, PATHS_MAX)
  }
  const whole = rank(amountIn)
  const paths = [
    ...new Map([...whole, ...rank(amountIn / PARTS)].map(({ path }) => [JSON.stringify(path), path])).values(),
  ]
  let best = whole[0]?.paid ?? 0n
  for (const first of paths) {
    for (const second of paths) {
      if (first === second) continue
      for (let part = 1n; part < PARTS; part++) {
        const now = states()
        const begun = (amountIn * part) / PARTS
        const one = pay(now, first, begun)
        const other = one === null ? null : pay(now, second, amountIn - begun)
        if (one !== null && other !== null && one + other > best) best = one + other
      }
    }
  }
  return best
}

describe('markets of 20 pools: no less than any two paths of two hops, in twelfths', () => {
  test.each([1, 2, 3, 4])('seed %i', (seed) => {
    const market = createBalancerMarket(20, seed)
    for (let n = 0; n < 12; n++) {
      const trade = market.draw()
      expect(routeOf(market, trade)?.amountOut ?? 0n).toBeGreaterThanOrEqual(floorOf(bestOfTwo(market, trade)))
    }
  })
})
