import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { executeRoute } from './execute.ts'
import { type Pool, swapExact } from './pool-kinds.ts'
import { createPoolMarket } from './pool-market.ts'
import { bestRoute } from './route.ts'
import { HOPS_MAX, type SearchOptions, SWAPS_MAX } from './search.ts'

const free: SearchOptions = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }

type Case = Readonly<{
  pools: readonly Readonly<{ token0: number; token1: number; reserve0: string; reserve1: string; feePpm: number }>[]
  tokenIn: number
  tokenOut: number
  amountIn: string
  upperBound: string
  bestSinglePath3Hop: string
}>
const { cases }: { cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL('../../../../vectors/routing_v2_optimality.json', import.meta.url), 'utf8'),
)

const poolsOf = ({ pools }: Pick<Case, 'pools'>): Pool[] =>
  pools.map(({ token0, token1, reserve0, reserve1, feePpm }, id) => ({
    kind: 'uniswap-v2',
    id: String(id),
    address: String(id),
    dex: 'test',
    tokens: [String(token0), String(token1)],
    reserves: [BigInt(reserve0), BigInt(reserve1)],
    feePpm,
  }))

const route = (one: Case, options: Partial<SearchOptions> = {}) =>
  bestRoute(
    createPoolMarket(poolsOf(one)),
    { source: String(one.tokenIn), target: String(one.tokenOut), amountIn: BigInt(one.amountIn) },
    { ...free, ...options },
  )

type Moved = Readonly<{ pool: Pool; tokenIn: number; tokenOut: number; amountIn: bigint; amountOut: bigint }>

/** Rounded shares move a little of what is planned. */
const ROUNDED = 1e-6

/**
 * The most swaps that any unit goes through, where paths join and part again so that it is least: what goes to the target has
 * come the longest way, what goes on the shortest; and where both go through one pool, what has come the shorter way went
 * first and got the better price. One way to part the flow into paths shows that they are that short.
 */
function longestPath(swaps: readonly Moved[], source: string, target: string): number {
  const there = new Map<string, number[]>([[source, [Number.POSITIVE_INFINITY]]])
  const moves = swaps.map(({ pool, tokenIn, tokenOut, ...amounts }) => ({
    ...{ ...amounts, from: pool.tokens[tokenIn] ?? '', to: pool.tokens[tokenOut] ?? '' },
    paidFor: (units: number) => Number(swapExact(pool, tokenIn, tokenOut, BigInt(Math.floor(units)))?.amountOut ?? 0n),
  }))
  /** How much of a token goes on elsewhere than to the target: there the shortest ways are wanted most. */
  const onward = (token: string) => {
    const out = moves.filter(({ from }) => from === token).map(({ to, amountIn }) => [to, Number(amountIn)] as const)
    const all = out.reduce((sum, [, amount]) => sum + amount, 0)
    return out.reduce((sum, [to, amount]) => sum + (to === target ? 0 : amount / all), 0)
  }
  const order = [...new Set(moves.map(({ from }) => from))]
  const sorted = moves
    .map((move) => ({ ...move, wanted: onward(move.to) }))
    .sort((a, b) => order.indexOf(a.from) - order.indexOf(b.from) || b.wanted - a.wanted)
  for (const { from, to, amountIn, paidFor } of sorted) {
    const [lots, next] = [there.get(from) ?? [], there.get(to) ?? []]
    there.set(to, next)
    let open = Number(amountIn)
    let paid = 0
    const places = to === target ? [...lots.keys()].reverse() : [...lots.keys()]
    for (const hops of places) {
      const taken = Math.min(open, lots[hops] ?? 0)
      if (from !== source) lots[hops] = (lots[hops] ?? 0) - taken
      open -= taken
      if (taken <= ROUNDED * Number(amountIn)) continue
      const before = paid
      paid = paidFor(Number(amountIn) - open)
      next[hops + 1] = (next[hops + 1] ?? 0) + paid - before
    }
  }
  const arrived = there.get(target) ?? []
  const all = arrived.reduce((sum, one) => sum + (one ?? 0), 0)
  return Math.max(...Array.from(arrived, (one, hops) => ((one ?? 0) > ROUNDED * all ? hops : 0)))
}

describe('markets with a certified bound', () => {
  const shares = cases.map((one) => Number(route(one)?.amountOut ?? 0n) / Number(one.upperBound)).sort((a, b) => a - b)

  test('at the median nothing is lost that float64 can show, and hardly anything at worst', () => {
    expect(shares[Math.floor(shares.length / 2)]).toBeGreaterThan(0.9999999)
    expect(shares[0]).toBeGreaterThan(0.9999)
    expect(shares.at(-1)).toBeLessThan(1 + 1e-12)
  })

  test.each(cases.map((one, index) => [index, one] as const))(
    'case %i: four hops at most, nothing left over, no less than the best path',
    (_index, one) => {
      const found = route(one)
      if (found === null) throw new Error('no route')
      expect(found.amountOut).toBeGreaterThanOrEqual(BigInt(one.bestSinglePath3Hop))
      expect(longestPath(found.swaps, String(one.tokenIn), String(one.tokenOut))).toBeLessThanOrEqual(4)
      const left = new Map([[String(one.tokenIn), BigInt(one.amountIn)]])
      for (const { pool, tokenIn, tokenOut, amountIn, amountOut } of found.swaps) {
        const [from, to] = [pool.tokens[tokenIn] ?? '', pool.tokens[tokenOut] ?? '']
        left.set(from, (left.get(from) ?? 0n) - amountIn)
        left.set(to, (left.get(to) ?? 0n) + amountOut)
      }
      for (const [token, units] of left) expect(units).toBe(token === String(one.tokenOut) ? found.amountOut : 0n)
    },
  )

  test('the same market gives the same route every time', () => {
    for (const one of cases.slice(0, 20))
      expect(route(structuredClone(one))?.swaps.map(({ pool, share }) => [pool.id, share])).toEqual(
        route(one)?.swaps.map(({ pool, share }) => [pool.id, share]),
      )
  })
})

describe('as production asks', () => {
  const asked = (one: Case, options: Partial<SearchOptions>) => {
    const found = route(one, { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, ...options })
    if (found === null) throw new Error('no route')
    return found
  }

  test('so many swaps miss next to nothing where gas is free', () => {
    const shares = cases.map((one) => Number(asked(one, {}).amountOut) / Number(one.upperBound)).sort((a, b) => a - b)
    expect(shares[Math.floor(shares.length / 2)]).toBeGreaterThan(0.999999)
    expect(shares[0]).toBeGreaterThan(0.9999)
  })

  test('hardly a route is worth less than one that is found at another price of gas, or of fewer swaps', () => {
    const gaps = cases.flatMap((one) => {
      // One swap of Uniswap's kind costs from a millionth of the output to three thousandths.
      const prices = [1e-6, 1e-5, 1e-4, 1e-3, 3e-3].map((share) => (share * Number(one.upperBound)) / 62_000)
      const found = prices.map((gasPrice) => asked(one, { gasPrice }))
      const others = [...found, ...[1, 2, 3, 4, 6, 8].map((swapsMax) => asked(one, { swapsMax }))]
      return found.map((chosen, index) => {
        const netOf = ({ amountOut, gas }: typeof chosen) => Number(amountOut) - gas * (prices[index] ?? 0)
        const best = Math.max(...others.map(netOf))
        return (best - netOf(chosen)) / best
      })
    })
    gaps.sort((a, b) => b - a)
    expect(gaps[0]).toBeLessThan(1e-3)
    expect(gaps.filter((gap) => gap > 1e-7).length).toBeLessThan(gaps.length / 30)
  })
})

test('free gas never pays less, and dear gas takes fewer swaps', () => {
  let fewer = 0
  for (const one of cases.slice(0, 30)) {
    const split = route(one)
    const gasPrice = Number(one.upperBound) / 1e6
    const dear = route(one, { gasPrice })
    if (!split || !dear) throw new Error('no route')
    expect(split.amountOut).toBeGreaterThanOrEqual(dear.amountOut)
    expect(dear.swaps.length).toBeLessThanOrEqual(split.swaps.length)
    if (dear.swaps.length < split.swaps.length) fewer++
  }
  expect(fewer).toBeGreaterThan(20)
})

test('when time is up the best found so far is given', () => {
  for (const one of cases) {
    const hurried = route(one, { isOver: () => true })
    expect(hurried?.amountOut).toBeGreaterThanOrEqual(BigInt(one.bestSinglePath3Hop))
  }
})

test('limits of swaps and hops hold', () => {
  for (const one of cases) {
    for (const swapsMax of [4, 7]) expect(route(one, { swapsMax })?.swaps.length).toBeLessThanOrEqual(swapsMax)
    // A single path is never cut: it has four hops at most.
    expect(route(one, { swapsMax: 1 })?.swaps.length).toBeLessThanOrEqual(4)
    const near = route(one, { hopsMax: 2 })
    if (near !== null) expect(longestPath(near.swaps, String(one.tokenIn), String(one.tokenOut))).toBeLessThanOrEqual(2)
  }
})

test('a token that nobody trades has no route', () => {
  const [one] = cases
  if (!one) throw new Error('no cases')
  const market = createPoolMarket(poolsOf(one))
  expect(bestRoute(market, { source: String(one.tokenIn), target: 'unknown', amountIn: 1n }, free)).toBeNull()
  expect(bestRoute(market, { source: String(one.tokenIn), target: String(one.tokenIn), amountIn: 1n }, free)).toBeNull()
})

test('on any market a route pays what its execution pays, and never more than the bound', () => {
  const pool = fc.record({
    token0: fc.nat(5),
    token1: fc.nat(5),
    reserve0: fc.bigInt(10n ** 6n, 10n ** 24n),
    reserve1: fc.bigInt(10n ** 6n, 10n ** 24n),
    feePpm: fc.constantFrom(0, 100, 500, 3000, 10000),
  })
  fc.assert(
    fc.property(fc.array(pool, { minLength: 1, maxLength: 14 }), fc.bigInt(1n, 10n ** 24n), (drawn, amountIn) => {
      const pools = poolsOf({
        pools: drawn
          .filter(({ token0, token1 }) => token0 !== token1)
          .map((one) => ({ ...one, reserve0: String(one.reserve0), reserve1: String(one.reserve1) })),
      })
      const found = bestRoute(createPoolMarket(pools), { source: '0', target: '1', amountIn }, free)
      if (found === null) return
      expect(executeRoute(found.swaps, '0', '1', amountIn).amountOut).toBe(found.amountOut)
      expect(longestPath(found.swaps, '0', '1')).toBeLessThanOrEqual(4)
      // Integers round down; float64 of the bound is good to about twelve digits.
      expect(Number(found.amountOut)).toBeLessThanOrEqual(found.bound * (1 + 1e-9) + 1)
    }),
    // What fails is made smaller for a minute at most: each attempt is a search of its own.
    { numRuns: 300, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true },
  )
})

describe('amounts and reserves of a few units', () => {
  const pool = (token0: number, token1: number, reserve0: string, reserve1: string, feePpm = 3000) => ({
    ...{ token0, token1, reserve0, reserve1, feePpm },
  })
  const routeOf = (pools: Case['pools'], tokenIn: number, tokenOut: number, amountIn: string) =>
    route({ pools, tokenIn, tokenOut, amountIn, upperBound: '0', bestSinglePath3Hop: '0' })?.amountOut

  test('a pool that pays nothing for its share takes no other from the route', () => {
    // UniswapV2Pair refuses to pay nothing; the two deep pools share what comes in.
    const deep = [pool(0, 1, '1000000', '1000000'), pool(0, 1, '1000000', '1000000')]
    const both = routeOf(deep, 0, 1, '100000')
    expect(both).toBe(2n * 47482n)
    expect(routeOf([pool(0, 1, '1', '1'), ...deep], 0, 1, '100000')).toBe(both)
  })

  test('a better way over a token of which there are no parts is no way', () => {
    // Over token 0 it would be 253 to 268 of float64, and is nothing: 0.013 of it come for the ten.
    const pools = [pool(2, 1, '673842267', '17129576033'), pool(2, 0, '577364', '761'), pool(0, 1, '21', '427416')]
    expect(routeOf(pools, 2, 1, '10')).toBe(253n)
    // Over token 1 one unit and eight tenths would come.
    const coarse = [
      pool(0, 1, '2707196580', '978858', 0),
      pool(0, 2, '28382', '24192', 0),
      pool(2, 1, '574285200032', '243574325', 0),
    ]
    expect(routeOf(coarse, 0, 2, '4983')).toBe(3613n)
  })

  /** Every path of up to four pools through different tokens, by the formula of Uniswap's library. */
  function bestPath({ pools }: Pick<Case, 'pools'>, amount: bigint, at = 0, passed = [0]): bigint {
    if (at === 1 || passed.length > 4) return at === 1 ? amount : 0n
    return pools.reduce((best, { token0, token1, reserve0, reserve1, feePpm }) => {
      if (token0 !== at && token1 !== at) return best
      const [next, reserveIn, reserveOut] = token0 === at ? [token1, reserve0, reserve1] : [token0, reserve1, reserve0]
      if (passed.includes(next)) return best
      const kept = amount * BigInt(1_000_000 - feePpm)
      const out = (kept * BigInt(reserveOut)) / (BigInt(reserveIn) * 1_000_000n + kept)
      const paid = out === 0n ? 0n : bestPath({ pools }, out, next, [...passed, next])
      return paid > best ? paid : best
    }, 0n)
  }

  test('a path of five hops that takes most of a flow leaves the split of one of four', () => {
    // 0 → 2 → 3 → 4 → 1 by two pools between 2 and 3; on by 4 → 5 → 1 it would pay twice as much, but for the fifth hop.
    const pools = [
      pool(1, 4, '231844922082', '30728874707600', 2500),
      pool(2, 3, '1579366517626', '36767976210', 3000),
      pool(2, 3, '701413927142', '16336681004', 3000),
      pool(3, 8, '5575491204746', '19917185344870', 2500),
      pool(4, 5, '9243008696053579', '3170902133720', 500),
      pool(2, 6, '4383548043506', '106454264612', 500),
      pool(2, 6, '296554882290026', '7202336938796', 500),
      pool(0, 2, '23258835871432', '1693856187079', 3000),
      pool(3, 4, '29126825724', '61553599570750', 500),
      pool(5, 7, '14232060837', '3394124492718434', 500),
      pool(5, 1, '5089575002008', '111776046725250', 10000),
    ]
    const single = bestPath({ pools }, 626_929_982_759_366n)
    expect(Number(routeOf(pools, 0, 1, '626929982759366'))).toBeGreaterThan(Number(single) * 1.05)
  })

  test('no less than the best single path, in exact units', () => {
    const reserve = fc.oneof(fc.bigInt(1n, 100n), fc.bigInt(1n, 10n ** 6n), fc.bigInt(1n, 10n ** 12n)).map(String)
    const drawnPool = fc
      .tuple(fc.nat(4), fc.nat(4), reserve, reserve, fc.constantFrom(0, 100, 3000, 10000))
      .map(([token0, token1, reserve0, reserve1, feePpm]) => pool(token0, token1, reserve0, reserve1, feePpm))
      .filter(({ token0, token1 }) => token0 !== token1)
    fc.assert(
      fc.property(fc.array(drawnPool, { minLength: 1, maxLength: 9 }), fc.bigInt(1n, 10n ** 6n), (pools, amountIn) => {
        expect(routeOf(pools, 0, 1, String(amountIn)) ?? 0n).toBeGreaterThanOrEqual(bestPath({ pools }, amountIn))
      }),
      { numRuns: 2000, seed: 4 },
    )
  })
})
