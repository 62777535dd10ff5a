import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readOwnVectors } from '../../../../test/support/vectors.ts'
import { certify } from './certificate.ts'
import { type ExecutedSwap, executeRoute, SHARE_ALL } from './execute.ts'
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
const { cases } = readOwnVectors<{ cases: readonly Case[] }>('routing_v2_optimality.json')

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

/**
 * The most by which rounded shares move the output from path to path, as a share of all. A share is rounded by at most one part in 2^24,
 * which is a larger part of a small share, or of a small rest that the next swap of the token receives.
 */
const roundingOf = (swaps: readonly Readonly<{ share: number }>[]): number =>
  swaps.reduce(
    (sum, { share }) => sum + (share === SHARE_ALL ? 0 : 1 / share + 1 / (SHARE_ALL + 1 - share)),
    FLOW_SHARE,
  )

/** Flows below this share of a swap are ignored. A smaller share than above: a little input can pay a large share of the output. */
const FLOW_SHARE = 1e-9

/** All swaps of a route from one token to another. */
type Hop = Readonly<{ from: string; to: string; swaps: readonly ExecutedSwap[] }>

function hopsOf(swaps: readonly ExecutedSwap[]): readonly Hop[] {
  const groups = new Map<string, Hop>()
  for (const one of swaps) {
    const [from, to] = [one.pool.tokens[one.tokenIn] ?? '', one.pool.tokens[one.tokenOut] ?? '']
    groups.set(`${from} ${to}`, { from, to, swaps: [...(groups.get(`${from} ${to}`)?.swaps ?? []), one] })
  }
  return [...groups.values()]
}

const inputOf = ({ swaps }: Hop): number => swaps.reduce((sum, { amountIn }) => sum + Number(amountIn), 0)

/** Bisections of a marginal price between 1e-60 and 1e60. */
const BISECTIONS = 90

/**
 * The most that the first `units` of a hop can receive: they go first in each of its pools, at the same marginal price in all, up to the input
 * of each swap. The marginal price of a constant product after the input x is γ·R₀·R₁ / (R₀ + γ·x)².
 */
function outputOfFirst({ swaps }: Hop, units: number): number {
  const sharesAt = (price: number) =>
    swaps.map(({ pool, tokenIn, tokenOut, amountIn }) => {
      if (pool.kind !== 'uniswap-v2') throw new Error(`no marginal price of ${pool.kind}`)
      const [reserveIn, reserveOut] = [Number(pool.reserves[tokenIn]), Number(pool.reserves[tokenOut])]
      const kept = 1 - pool.feePpm / 1e6
      const input = (Math.sqrt((kept * reserveIn * reserveOut) / price) - reserveIn) / kept
      return Math.min(Number(amountIn), Math.max(0, input))
    })
  let [low, high] = [-60, 60]
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2
    if (sharesAt(10 ** middle).reduce((sum, input) => sum + input, 0) > units) low = middle
    else high = middle
  }
  return sharesAt(10 ** high).reduce((sum, input, index) => {
    const { pool, tokenIn, tokenOut } = swaps[index] as ExecutedSwap
    return sum + Number(swapExact(pool, tokenIn, tokenOut, BigInt(Math.floor(input)))?.amountOut ?? 0n)
  }, 0)
}

/**
 * The most swaps that any unit passes through, for a decomposition of the flow into short paths: at each token the units with the most hops
 * go to the target and those with the fewest go on. From one token to another the units with fewer hops are first and get the better price.
 * One such decomposition proves that the paths are that short.
 */
function longestPath(swaps: readonly ExecutedSwap[], source: string, target: string): number {
  const balances = new Map<string, number[]>([[source, [Number.POSITIVE_INFINITY]]])
  const hops = hopsOf(swaps)
  /** Share of a token that goes elsewhere than to the target. Hops to such tokens get the units with the fewest hops first. */
  const intermediateShare = (token: string) => {
    const out = hops.filter(({ from }) => from === token)
    const all = out.reduce((sum, hop) => sum + inputOf(hop), 0)
    return out.reduce((sum, hop) => sum + (hop.to === target ? 0 : inputOf(hop) / all), 0)
  }
  const order = [...new Set(hops.map(({ from }) => from))]
  const sorted = hops
    .map((hop) => ({ ...hop, priority: intermediateShare(hop.to) }))
    .sort((a, b) => order.indexOf(a.from) - order.indexOf(b.from) || b.priority - a.priority)
  for (const hop of sorted) {
    const [lots, next] = [balances.get(hop.from) ?? [], balances.get(hop.to) ?? []]
    balances.set(hop.to, next)
    const counts = hop.to === target ? [...lots.keys()].reverse() : [...lots.keys()]
    const amounts: number[] = []
    const all = inputOf(hop)
    let remaining = all
    for (const count of counts) {
      const amount = Math.min(remaining, lots[count] ?? 0)
      if (hop.from !== source) lots[count] = (lots[count] ?? 0) - amount
      remaining -= amount
      amounts[count] = amount
    }
    let [input, output] = [0, 0]
    for (const [count, amount = 0] of amounts.entries()) {
      input += amount
      if (amount <= FLOW_SHARE * all) continue
      const before = output
      output = outputOfFirst(hop, input)
      next[count + 1] = (next[count + 1] ?? 0) + output - before
    }
  }
  const outputs = balances.get(target) ?? []
  const all = outputs.reduce((sum, one) => sum + (one ?? 0), 0)
  const least = roundingOf(swaps) * all
  return Math.max(...Array.from(outputs, (one, count) => ((one ?? 0) > least ? count : 0)))
}

describe('recorded markets with a certified bound', () => {
  const shares = cases.map((one) => Number(route(one)?.amountOut ?? 0n) / Number(one.upperBound)).sort((a, b) => a - b)

  test('routes reach the bound: 0.9999999 at the median, 0.9999 at worst', () => {
    expect(shares[Math.floor(shares.length / 2)]).toBeGreaterThan(0.9999999)
    expect(shares[0]).toBeGreaterThan(0.9999)
    expect(shares.at(-1)).toBeLessThan(1 + 1e-12)
  })

  test.each(cases.map((one, index) => [index, one] as const))(
    'case %i: the route has at most four hops, leaves no balance, and pays at least the best path',
    (_index, one) => {
      const result = route(one)
      if (result === null) throw new Error('no route')
      expect(result.amountOut).toBeGreaterThanOrEqual(BigInt(one.bestSinglePath3Hop))
      expect(longestPath(result.swaps, String(one.tokenIn), String(one.tokenOut))).toBeLessThanOrEqual(4)
      const left = new Map([[String(one.tokenIn), BigInt(one.amountIn)]])
      for (const { pool, tokenIn, tokenOut, amountIn, amountOut } of result.swaps) {
        const [from, to] = [pool.tokens[tokenIn] ?? '', pool.tokens[tokenOut] ?? '']
        left.set(from, (left.get(from) ?? 0n) - amountIn)
        left.set(to, (left.get(to) ?? 0n) + amountOut)
      }
      for (const [token, units] of left) expect(units).toBe(token === String(one.tokenOut) ? result.amountOut : 0n)
    },
  )

  test('the same market always gives the same route', () => {
    for (const one of cases.slice(0, 20))
      expect(route(structuredClone(one))?.swaps.map(({ pool, share }) => [pool.id, share])).toEqual(
        route(one)?.swaps.map(({ pool, share }) => [pool.id, share]),
      )
  })
})

describe('with the limits of production', () => {
  const routeInProduction = (one: Case, options: Partial<SearchOptions>) => {
    const result = route(one, { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, ...options })
    if (result === null) throw new Error('no route')
    return result
  }

  test('the limit of swaps costs almost nothing without gas', () => {
    const shares = cases
      .map((one) => Number(routeInProduction(one, {}).amountOut) / Number(one.upperBound))
      .sort((a, b) => a - b)
    expect(shares[Math.floor(shares.length / 2)]).toBeGreaterThan(0.999999)
    expect(shares[0]).toBeGreaterThan(0.9999)
  })

  test('a route rarely nets less than routes for another gas price or a lower limit of swaps', () => {
    const gaps = cases.flatMap((one) => {
      // One Uniswap V2 swap (62,000 gas) costs from 0.0001 % to 0.3 % of the output.
      const prices = [1e-6, 1e-5, 1e-4, 1e-3, 3e-3].map((share) => (share * Number(one.upperBound)) / 62_000)
      const routes = prices.map((gasPrice) => routeInProduction(one, { gasPrice }))
      const others = [...routes, ...[1, 2, 3, 4, 6, 8].map((swapsMax) => routeInProduction(one, { swapsMax }))]
      return routes.map((chosen, index) => {
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

test('routes for free gas pay no less, and routes for expensive gas have fewer swaps', () => {
  let fewer = 0
  for (const one of cases.slice(0, 30)) {
    const split = route(one)
    const gasPrice = Number(one.upperBound) / 1e6
    const pruned = route(one, { gasPrice })
    if (!split || !pruned) throw new Error('no route')
    expect(split.amountOut).toBeGreaterThanOrEqual(pruned.amountOut)
    expect(pruned.swaps.length).toBeLessThanOrEqual(split.swaps.length)
    if (pruned.swaps.length < split.swaps.length) fewer++
  }
  expect(fewer).toBeGreaterThan(20)
})

test('after the time limit the route still pays at least the best path', () => {
  for (const one of cases) {
    const hurried = route(one, { isOver: () => true })
    expect(hurried?.amountOut).toBeGreaterThanOrEqual(BigInt(one.bestSinglePath3Hop))
  }
})

test('respects the limits of swaps and hops', () => {
  for (const one of cases) {
    for (const swapsMax of [4, 7]) expect(route(one, { swapsMax })?.swaps.length).toBeLessThanOrEqual(swapsMax)
    // The limit of swaps does not cut a single path, which has at most four hops.
    expect(route(one, { swapsMax: 1 })?.swaps.length).toBeLessThanOrEqual(4)
    const near = route(one, { hopsMax: 2 })
    if (near !== null) expect(longestPath(near.swaps, String(one.tokenIn), String(one.tokenOut))).toBeLessThanOrEqual(2)
  }
})

test('returns null for a token without pools and for equal tokens', () => {
  const [one] = cases
  if (!one) throw new Error('no cases')
  const market = createPoolMarket(poolsOf(one))
  expect(bestRoute(market, { source: String(one.tokenIn), target: 'unknown', amountIn: 1n }, free)).toBeNull()
  expect(bestRoute(market, { source: String(one.tokenIn), target: String(one.tokenIn), amountIn: 1n }, free)).toBeNull()
})

test('on random markets a route pays exactly what its execution pays, and at most the bound', () => {
  const pool = fc.record({
    token0: fc.nat(5),
    token1: fc.nat(5),
    reserve0: fc.bigInt(10n ** 6n, 10n ** 24n),
    reserve1: fc.bigInt(10n ** 6n, 10n ** 24n),
    feePpm: fc.constantFrom(0, 100, 500, 3000, 10000),
  })
  fc.assert(
    fc.property(fc.array(pool, { minLength: 1, maxLength: 14 }), fc.bigInt(1n, 10n ** 24n), (fields, amountIn) => {
      const pools = poolsOf({
        pools: fields
          .filter(({ token0, token1 }) => token0 !== token1)
          .map((one) => ({ ...one, reserve0: String(one.reserve0), reserve1: String(one.reserve1) })),
      })
      const market = createPoolMarket(pools)
      const request = { source: '0', target: '1', amountIn }
      const result = bestRoute(market, request, free)
      fc.pre(result !== null)
      expect(executeRoute(result.swaps, '0', '1', amountIn).amountOut).toBe(result.amountOut)
      expect(longestPath(result.swaps, '0', '1')).toBeLessThanOrEqual(4)
      const { bound } = certify(market, request, free.gasPrice, { execution: result, values: result.values })
      expect(Number(result.amountOut)).toBeLessThanOrEqual(bound)
    }),
    // fast-check fails the property if more than four of five markets have no route, and
    // shrinks a failing case for at most a minute, because each attempt runs a search.
    { numRuns: 300, maxSkipsPerRun: 4, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true },
  )
})

// Two tokens whose pools disagree are worth more with each turn between them: such values prove no bound.
test('a profitable cycle at the edge of the market leaves the bound above the route', () => {
  const one = {
    pools: [
      [2, 3, '1000000', '1000000', 0],
      [3, 4, '1000000', '1000000', 0],
      [1, 2, '914891309617247223809', '1000000', 0],
      [3, 4, '1000000', '823820759049235335', 0],
      [4, 0, '1000000', '3269242767951748020129', 10_000],
      [1, 0, '256852823104653965662397', '310148740525191689048937', 0],
    ].map(([token0, token1, reserve0, reserve1, feePpm]) => ({ token0, token1, reserve0, reserve1, feePpm })),
  } as Pick<Case, 'pools'>
  const market = createPoolMarket(poolsOf(one))
  const request = { source: '0', target: '1', amountIn: 682_209_207_532_938_011_628_529n }
  const result = bestRoute(market, request, free)
  if (result === null) throw new Error('no route')
  const { bound } = certify(market, request, free.gasPrice, { execution: result, values: result.values })
  expect(Number(result.amountOut)).toBeLessThanOrEqual(bound)
  expect(bound).toBeLessThan(Number(result.amountOut) * 1.01)
})

describe('amounts and reserves of a few base units', () => {
  const pool = (token0: number, token1: number, reserve0: string, reserve1: string, feePpm = 3000) => ({
    ...{ token0, token1, reserve0, reserve1, feePpm },
  })
  const routeOf = (pools: Case['pools'], tokenIn: number, tokenOut: number, amountIn: string) =>
    route({ pools, tokenIn, tokenOut, amountIn, upperBound: '0', bestSinglePath3Hop: '0' })?.amountOut

  test('a pool that pays nothing for its share does not affect the other pools', () => {
    // UniswapV2Pair reverts on an output of zero. The two deep pools share the input.
    const deep = [pool(0, 1, '1000000', '1000000'), pool(0, 1, '1000000', '1000000')]
    const both = routeOf(deep, 0, 1, '100000')
    expect(both).toBe(2n * 47482n)
    expect(routeOf([pool(0, 1, '1', '1'), ...deep], 0, 1, '100000')).toBe(both)
  })

  test('ignores a path that pays more in float64 but rounds to zero units on the way', () => {
    // The direct pool pays 253. In float64 the path over token 0 pays 268, but the input of 10 buys only 0.013 units of token 0.
    const pools = [pool(2, 1, '673842267', '17129576033'), pool(2, 0, '577364', '761'), pool(0, 1, '21', '427416')]
    expect(routeOf(pools, 2, 1, '10')).toBe(253n)
    // The path over token 1 would receive only 1.8 units of it.
    const coarse = [
      pool(0, 1, '2707196580', '978858', 0),
      pool(0, 2, '28382', '24192', 0),
      pool(2, 1, '574285200032', '243574325', 0),
    ]
    expect(routeOf(coarse, 0, 2, '4983')).toBe(3613n)
  })

  /** Output of the best simple path of up to four pools, by the formula of UniswapV2Library. */
  function bestPath({ pools }: Pick<Case, 'pools'>, amount: bigint, at = 0, visited = [0]): bigint {
    if (at === 1 || visited.length > 4) return at === 1 ? amount : 0n
    return pools.reduce((best, { token0, token1, reserve0, reserve1, feePpm }) => {
      if (token0 !== at && token1 !== at) return best
      const [next, reserveIn, reserveOut] = token0 === at ? [token1, reserve0, reserve1] : [token0, reserve1, reserve0]
      if (visited.includes(next)) return best
      const netInput = amount * BigInt(1_000_000 - feePpm)
      const out = (netInput * BigInt(reserveOut)) / (BigInt(reserveIn) * 1_000_000n + netInput)
      const output = out === 0n ? 0n : bestPath({ pools }, out, next, [...visited, next])
      return output > best ? output : best
    }, 0n)
  }

  test('finds the split of a four-hop path although most of the flow without a hop limit takes five hops', () => {
    // 0 → 2 → 3 → 4 → 1 with two pools between 2 and 3. The end 4 → 5 → 1 would pay twice as much, but exceeds the hop limit.
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

  test('pays at least the best single path in exact integers', () => {
    const reserve = fc.oneof(fc.bigInt(1n, 100n), fc.bigInt(1n, 10n ** 6n), fc.bigInt(1n, 10n ** 12n)).map(String)
    const anyPool = fc
      .tuple(fc.nat(4), fc.nat(4), reserve, reserve, fc.constantFrom(0, 100, 3000, 10000))
      .map(([token0, token1, reserve0, reserve1, feePpm]) => pool(token0, token1, reserve0, reserve1, feePpm))
      .filter(({ token0, token1 }) => token0 !== token1)
    fc.assert(
      fc.property(fc.array(anyPool, { minLength: 1, maxLength: 9 }), fc.bigInt(1n, 10n ** 6n), (pools, amountIn) => {
        expect(routeOf(pools, 0, 1, String(amountIn)) ?? 0n).toBeGreaterThanOrEqual(bestPath({ pools }, amountIn))
      }),
      { numRuns: 2000, seed: 4 },
    )
  })
})
