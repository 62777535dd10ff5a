import { swapDeepbook } from '@swapyard/lib/pools/sui/deepbook.ts'
import { describe, expect, test } from 'vitest'
import { partOf } from '../../../../test/support/part.ts'
import { certify } from '../../../src/swap/routing/certificate.ts'
import type { ExecutedSwap } from '../../../src/swap/routing/execute.ts'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute, type Route, type RouteRequest } from '../../../src/swap/routing/route.ts'
import type { SearchOptions } from '../../../src/swap/routing/search.ts'
import { dualBound } from './dual-bound.ts'
import { leastBound } from './least-bound.ts'
import { definitionOf } from './pool-definitions.ts'
import { addDust, drawConnectedMarket, drawShapedMarket, kindsOf, shapes, type TradeSizes } from './random-markets.ts'
import { concentratedOf } from './random-pools.ts'

/*
 * Routes are compared with an upper bound that `dual-bound.ts` computes from prices and exact swaps alone. The prices come from the program,
 * which is safe: weak duality holds for any positive prices, and wrong ones make the bound higher (`independent-bounds.test.ts`).
 */
const MARKETS = 160
/** No effective limit of hops, because the bound has none. */
const unlimited: SearchOptions = {
  hopsMax: 21,
  swapsMax: Number.POSITIVE_INFINITY,
  gasPrice: 0,
  isOver: () => false,
}

/**
 * `unconnected`: no path leads to the target. `exceeded`: the pools of the source cannot take the input. `full`: other pools cannot.
 * `refused`: no route for another reason. `unproven`: no route in a market with pools that have no closed form.
 */
type Outcome = Readonly<{ share: number } | { leftOut: 'unconnected' | 'exceeded' | 'refused' | 'full' | 'unproven' }>

function isConnected(pools: readonly Pool[], { source, target }: RouteRequest): boolean {
  const reached = new Set([source])
  // Each pass reaches the neighbours of all reached tokens.
  for (let pass = 0; pass < pools.length; pass++)
    for (const { tokens } of pools)
      if (tokens.some((token) => reached.has(token))) for (const token of tokens) reached.add(token)
  return reached.has(target)
}

/** The largest input that all pools of a token accept together, by bisection to a millionth of `most`, rounded up. */
function capacityOf(pools: readonly Pool[], token: string, most: bigint): bigint {
  const step = most / 1_000_000n + 1n
  const capacities = pools.map((pool) => {
    const from = pool.tokens.indexOf(token)
    const others = from < 0 ? [] : pool.tokens.flatMap((_, to) => (to === from ? [] : to))
    const isAccepted = (units: bigint) => others.some((to) => swapExact(pool, from, to, units) !== null)
    let [accepted, refused] = [0n, most]
    if (others.length === 0 || isAccepted(most)) return others.length === 0 ? 0n : most
    while (refused - accepted > step) {
      const middle = (accepted + refused) / 2n
      if (isAccepted(middle)) accepted = middle
      else refused = middle
    }
    return refused
  })
  return capacities.reduce((sum, units) => sum + units, 0n)
}

function whyNoRoute(pools: readonly Pool[], request: RouteRequest): Outcome {
  const { source, amountIn } = request
  if (!isConnected(pools, request)) return { leftOut: 'unconnected' }
  if (capacityOf(pools, source, amountIn) < amountIn) return { leftOut: 'exceeded' }
  if (pools.some((pool) => definitionOf(pool, 0, 1) === null)) return { leftOut: 'unproven' }
  return { leftOut: isFull(pools, request) ? 'full' : 'refused' }
}

/**
 * If the market takes the whole input, a hundredth less brings less, and a hundredth more brings more. Where it does not, the least bound is
 * hard to find exactly.
 */
const MORE_MIN = 2.5e-3

function isFull(pools: readonly Pool[], request: RouteRequest): boolean {
  const { values, bound } = certify(createPoolMarket(pools), request, 0, null)
  const boundOf = (amountIn: bigint) => leastBound(pools, { ...request, amountIn }, values, bound).bound
  const [less = 0, whole = 0, more = 0] = [99n, 100n, 101n].map((percent) =>
    boundOf((request.amountIn * percent) / 100n),
  )
  return Math.min(whole / less, more / whole) - 1 < MORE_MIN
}

/**
 * Output of the route, with what DeepBook returns of it, as a share of the bound, which knows no lots. A trade that exceeds the capacity of the pools is left out if it misses the bound: the
 * bound then leaves part of the input unspent, while a route must spend it all. The pools are full if a larger input barely raises the
 * bound.
 */
function shareOfBound(pools: readonly Pool[], request: RouteRequest, options = unlimited): Outcome {
  const found = findBound(pools, request, options)
  if (found === null) return whyNoRoute(pools, request)
  const { route, bound } = found
  expect(findUnspent(route, request)).toEqual([])
  const share = (Number(route.amountOut) + found.unused) / bound
  if (share >= WORST_MIN) return { share }
  const larger = findBound(pools, { ...request, amountIn: (request.amountIn * 101n) / 100n }, options)
  return larger === null || larger.bound - bound < 1e-6 * bound ? { leftOut: 'full' } : { share }
}

function findBound(pools: readonly Pool[], request: RouteRequest, options: SearchOptions) {
  const market = createPoolMarket(pools)
  const route = bestRoute(market, request, options)
  if (route === null) return null
  const { values } = certify(market, request, 0, { execution: route, values: route.values })
  const bound = dualBound(pools, request, values, route.amountOut)
  const worthOf = ({ pool, tokenIn }: ExecutedSwap) => values.get(pool.tokens[tokenIn] ?? '') ?? 0
  const unused = route.swaps.reduce((sum, swap) => sum + Number(unusedInputOf(swap)) * worthOf(swap), 0)
  return { route, bound, values, unused }
}

/** Base units that DeepBook returns, because it trades whole lots. */
function unusedInputOf({ pool, tokenIn, amountIn }: ExecutedSwap): bigint {
  if (pool.kind !== 'deepbook') return 0n
  const swapped = swapDeepbook(pool, { isBid: tokenIn === 1, amount: amountIn, deepIn: 0n, outputMin: 1n })
  if (swapped.abort !== null) throw new Error('DeepBook aborts a swap of the route')
  return amountIn - swapped.paid
}

/** Tokens other than the target with a nonzero balance after the route. */
function findUnspent({ swaps }: Route, { source, target, amountIn }: RouteRequest): readonly string[] {
  const balances = new Map([[source, amountIn]])
  for (const { pool, tokenIn, tokenOut, ...amounts } of swaps) {
    const [from, to] = [pool.tokens[tokenIn] ?? '', pool.tokens[tokenOut] ?? '']
    balances.set(from, (balances.get(from) ?? 0n) - amounts.amountIn)
    balances.set(to, (balances.get(to) ?? 0n) + amounts.amountOut)
  }
  return [...balances].filter(([token, units]) => token !== target && units !== 0n).map(([token]) => token)
}

const MEDIAN_MIN = 0.999999
const WORST_MIN = 0.9999
/** Golden section ends this close to the end of a pool. */
const ROUNDING = 1e-6
const usual: TradeSizes = { least: 100, most: 5_000 }
const large: TradeSizes = { least: 5_000, most: 1e6 }
/** More than most of these pools hold. */
const huge: TradeSizes = { least: 1e5, most: 1e7 }
/** Pools of the shaped markets have 10⁵ to 10⁶ USD. */
const shaped: TradeSizes = { least: 1_000, most: 2e5 }
const SHAPED_MARKETS = 40
/**
 * Trades of a shape and kind that exceed the pools. Pools of Raydium CLMM end with their second tick array, and half of the pools of Turbos
 * with a range without liquidity.
 */
const SHAPED_LEFT_OUT_MAX = 4
const MORE_LEFT_OUT: Readonly<Record<string, number>> = {
  'ring, Raydium CLMM': 16,
  'grid, Raydium CLMM': 5,
  'ring, Turbos': 6,
}

/**
 * How many trades may be left out although the pools of the source accept the input: those of the target, or in between, do not. The markets
 * are the same in each run, so a further trade is a fault.
 */
const LEFT_OUT_MAX: Readonly<Record<string, number>> = {
  'weighted, large': 15,
  'weighted, huge': 5,
  'three kinds, large': 5,
  'three kinds, huge': 1,
  'liquidity book, large': 8,
  'liquidity book, huge': 5,
  'variable-fee book, large': 8,
  'variable-fee book, huge': 5,
  'every kind, large': 2,
  'every kind, huge': 1,
  'Raydium CLMM, large': 16,
  'Raydium CLMM, huge': 6,
  'Meteora DLMM, large': 17,
  'Meteora DLMM, huge': 3,
  'Meteora DAMM v2, large': 1,
  'Meteora DAMM v2, huge': 3,
  'Solana, large': 4,
  'Solana, huge': 2,
  'Turbos, large': 7,
  'Turbos, huge': 2,
  'DeepBook, large': 10,
  'DeepBook, huge': 7,
  'Sui, usual': 1,
  'Sui, large': 3,
  'Sui, huge': 1,
}

/**
 * How many usual, large and huge trades exceed what the pools of the source accept, in how many markets no path leads to the target: exactly,
 * because neither depends on the router. Most pools take any amount.
 */
const EXCEEDED: Readonly<Record<string, readonly [number, number, number]>> = {
  weighted: [0, 24, 22],
  'three kinds': [0, 2, 1],
  'liquidity book': [0, 3, 7],
  'variable-fee book': [0, 3, 7],
  'Raydium CLMM': [0, 11, 11],
  'Meteora DLMM': [0, 6, 18],
  'Meteora DAMM v2': [0, 5, 5],
  Solana: [0, 6, 2],
  Turbos: [1, 6, 4],
  DeepBook: [0, 11, 16],
  Sui: [0, 3, 1],
}
const UNCONNECTED: Readonly<Record<string, readonly [number, number, number]>> = {
  'constant product': [12, 12, 3],
  concentrated: [7, 7, 1],
  weighted: [11, 11, 1],
  'three kinds': [11, 11, 4],
  stable: [6, 6, 2],
  'liquidity book': [4, 4, 1],
  'variable-fee book': [4, 4, 1],
  'every kind': [4, 4, 1],
  'Raydium CPMM': [12, 12, 4],
  'Raydium CLMM': [7, 7, 1],
  'Raydium AMM v4': [11, 11, 1],
  'Meteora DLMM': [6, 6, 3],
  'Meteora DAMM v2': [9, 9, 2],
  PumpSwap: [12, 12, 4],
  Solana: [6, 6, 2],
  Cetus: [8, 8, 2],
  Turbos: [7, 7, 1],
  DeepBook: [4, 4, 3],
  Sui: [12, 12, 3],
}

function makersOf(name: string) {
  const kinds = kindsOf[name]
  if (kinds === undefined) throw new Error(`no pools of ${name}`)
  return kinds
}

describe('routes in markets around connector tokens reach the dual bound', () => {
  const cases = Object.entries(kindsOf).flatMap(
    ([name, kinds]) =>
      [
        { name, kinds, size: 'usual', sizeIndex: 0, sizes: usual, markets: MARKETS },
        { name, kinds, size: 'large', sizeIndex: 1, sizes: large, markets: MARKETS },
        { name, kinds, size: 'huge', sizeIndex: 2, sizes: huge, markets: MARKETS / 4 },
      ] as const,
  )
  test.each(partOf(cases, 2))('$name, $size trades', ({ name, size, sizeIndex, kinds, sizes, markets }) => {
    // Half as many markets, because sampled curves are slow.
    const count = /stable|book|every/.test(name) ? markets / 2 : markets
    const outcomes = Array.from({ length: count }, (_, seed) => {
      const { pools, request } = drawConnectedMarket(seed, kinds, sizes)
      return shareOfBound(pools, request)
    })
    const shares = outcomes.flatMap((one) => ('share' in one ? one.share : [])).sort((a, b) => a - b)
    const countOf = (reason: string) => outcomes.filter((one) => 'leftOut' in one && one.leftOut === reason).length
    const full = countOf('full') + countOf('unproven')
    console.info(
      `${name}, ${size}: worst ${shares[0]} of ${shares.length}; left out: ${full} full, ${countOf('exceeded')} exceeded`,
    )
    expect(countOf('exceeded')).toBe(EXCEEDED[name]?.[sizeIndex] ?? 0)
    expect(countOf('unconnected')).toBe(UNCONNECTED[name]?.[sizeIndex])
    expect(shares.length + full + countOf('unconnected') + countOf('exceeded')).toBe(count)
    expect(countOf('refused')).toBe(0)
    expect(full).toBeLessThanOrEqual(LEFT_OUT_MAX[`${name}, ${size}`] ?? 0)
    expect(shares[Math.floor(shares.length / 2)]).toBeGreaterThanOrEqual(MEDIAN_MIN)
    expect(shares[0]).toBeGreaterThanOrEqual(WORST_MIN)
    expect(shares.at(-1)).toBeLessThanOrEqual(1 + ROUNDING)
  })

  // Regressions. Causes were Newton's method at ticks or in cycles, saturated pools, and the last digit of a share.
  test.each<readonly [string, number, TradeSizes]>([
    ['concentrated', 162, usual],
    ['concentrated', 293, { least: 100, most: 20_000 }],
    ['three kinds', 110, { least: 100, most: 20_000 }],
    ['three kinds', 264, { least: 100, most: 1e6 }],
    ['three kinds', 385, { least: 100, most: 1e6 }],
    ['weighted', 153, huge],
    ['three kinds', 295, huge],
    ['three kinds', 172, huge],
    ['three kinds', 1204, huge],
    ['every kind', 449, huge],
    ['every kind', 1453, huge],
    ['liquidity book', 731, large],
    ['every kind', 54, large],
    ['every kind', 96, large],
    ['every kind', 1943, large],
  ])('%s, market %i', (name, seed, sizes) => {
    const { pools, request } = drawConnectedMarket(seed, makersOf(name), sizes)
    expect(shareOfBound(pools, request)).toEqual({ share: expect.closeTo(1, 4) })
  })
})

/** Grids and islands have paths of more than four hops, which the bound counts. */
const hopsOf = (shape: string) => (shape === 'grid' || shape === 'islands' ? unlimited.hopsMax : 4)

describe.each(Object.keys(shapes))('routes in markets shaped as %s reach the dual bound', (shape) => {
  test.each(partOf(Object.keys(kindsOf), 2))('%s', (name) => {
    const outcomes = Array.from({ length: SHAPED_MARKETS }, (_, seed) => {
      const { pools, request } = drawShapedMarket(shape, seed, makersOf(name), shaped)
      return shareOfBound(pools, request, { ...unlimited, hopsMax: hopsOf(shape) })
    })
    const shares = outcomes.flatMap((one) => ('share' in one ? one.share : [])).sort((a, b) => a - b)
    const [worst, most] = [shares[0] ?? 0, shares.at(-1)]
    const leftOut = outcomes.length - shares.length
    console.info(`${shape}, ${name}: worst ${worst}, most ${most} of ${shares.length}; ${leftOut} left out`)
    expect(outcomes).not.toContainEqual({ leftOut: 'refused' })
    expect(shares[shares.length >> 1]).toBeGreaterThanOrEqual(MEDIAN_MIN)
    expect(worst).toBeGreaterThanOrEqual(WORST_MIN)
    expect(most).toBeLessThanOrEqual(1 + ROUNDING)
    expect(leftOut).toBeLessThanOrEqual(MORE_LEFT_OUT[`${shape}, ${name}`] ?? SHAPED_LEFT_OUT_MAX)
  })
})

// By spot prices alone a path over such a pool costs one fee, and a deep one beside it three: the deep one was not found.
describe.each([1e-6, 1e-3])('pools of %d dollars between other tokens hide no path', (dollars) => {
  // Every token of these has two neighbours, so prices of all are known.
  const cases = ['chains', 'deep chains', 'ring', 'islands'].flatMap((shape) =>
    ['constant product', 'concentrated', 'three kinds'].map((name) => [shape, name] as const),
  )
  test.each(cases)('%s, %s', (shape, name) => {
    const options = { ...unlimited, hopsMax: hopsOf(shape) }
    const shares = Array.from({ length: SHAPED_MARKETS }, (_, seed) => {
      const market = drawShapedMarket(shape, seed, makersOf(name), shaped)
      const { pools, request } = addDust(market, seed, dollars)
      const found = bestRoute(createPoolMarket(pools), request, options)
      const without = findBound(market.pools, request, options)
      if (without === null) return []
      // Prices of the market without these pools prove the lower bound, because they earn next to nothing at them.
      const bound = dualBound(pools, request, without.values, without.route.amountOut)
      return Number(found?.amountOut ?? 0) / bound
    }).flat()
    shares.sort((a, b) => a - b)
    console.info(`pools of ${dollars} dollars, ${shape}, ${name}: worst ${shares[0]} of ${shares.length}`)
    expect(shares.length).toBeGreaterThanOrEqual(SHAPED_MARKETS - SHAPED_LEFT_OUT_MAX)
    expect(shares[shares.length >> 1]).toBeGreaterThanOrEqual(MEDIAN_MIN)
    expect(shares[0]).toBeGreaterThanOrEqual(WORST_MIN)
    expect(shares.at(-1)).toBeLessThanOrEqual(1 + ROUNDING)
  })
})

// A chain was full before the other chains were known. Its prices stayed at zero, which shows no imbalance, so it got no flow: 1.2 %.
test('H1: a chain that could not take the whole amount is used beside others', () => {
  const { pools, request } = drawShapedMarket('deep chains', 4, makersOf('variable-fee book'), shaped)
  const outcome = shareOfBound(pools, request, { ...unlimited, hopsMax: 4 })
  expect(outcome).toEqual({ share: expect.closeTo(1, 6) })
})

// Of the bins of a detour only the first has a better price. Their depth alone suggested no gain.
test('H1: a detour whose first bin alone pays more is used', () => {
  const { pools, request } = drawConnectedMarket(36, makersOf('variable-fee book'), large)
  const outcome = shareOfBound(pools, request)
  expect(outcome).toEqual({ share: expect.closeTo(1, 6) })
})

/** One position between the ticks −range and range, at the price 1. Liquidity 10²⁴, no fee. */
function narrowPool(id: string, tokens: readonly [string, string], range: number): Pool {
  const positions = [{ lower: -range, upper: range, liquidity: 10n ** 24n }]
  const state = concentratedOf({ sqrtPrice: 1n << 96n, tick: 0, tickSpacing: 60, positions })
  return { id, address: id, dex: 'test', tokens, kind: 'uniswap-v3', feePpm: 0, ...state }
}

describe('H1: trades without a share of the bound', () => {
  /** The most that a pool takes, by the formula of concentrated liquidity: L · (1/√p − 1) at the last price. */
  const capacity = (range: number) => 1e24 * (1.0001 ** (range / 2) - 1)
  const trade = (amountIn: number, target = 'b') => ({ source: 'a', target, amountIn: BigInt(Math.floor(amountIn)) })
  const boundOf = (pools: readonly Pool[], request: RouteRequest) =>
    certify(createPoolMarket(pools), request, 0, null).bound

  test('exceed the pools of the source; the bound counts what the pools take', () => {
    const pools = [narrowPool('1', ['a', 'b'], 600)]
    const above = trade(capacity(600) * 1.01)
    expect(shareOfBound(pools, above)).toEqual({ leftOut: 'exceeded' })
    expect(boundOf(pools, above)).toBeGreaterThan(1e24 * (1 - 1.0001 ** -300) * (1 - 1e-6))
    expect(shareOfBound(pools, trade(capacity(600) * 0.99))).toEqual({ share: expect.closeTo(1, 6) })
    // A second pool of the source takes the rest.
    expect(shareOfBound([...pools, narrowPool('2', ['a', 'b'], 600)], above)).toEqual({ share: expect.closeTo(1, 6) })
  })

  test('fill the pools behind those of the source, which take the input', () => {
    const pools = [narrowPool('1', ['a', 'c'], 6_000), narrowPool('2', ['c', 'b'], 600)]
    expect(shareOfBound(pools, trade(capacity(600) * 2))).toEqual({ leftOut: 'full' })
    expect(shareOfBound(pools, trade(capacity(600) / 2))).toEqual({ share: expect.closeTo(1, 6) })
  })

  test('are unconnected where no path leads to the target; the bound is zero', () => {
    const pools = [narrowPool('1', ['a', 'c'], 600), narrowPool('2', ['b', 'd'], 600)]
    for (const target of ['b', 'd']) {
      expect(shareOfBound(pools, trade(1e20, target))).toEqual({ leftOut: 'unconnected' })
      expect(boundOf(pools, trade(1e20, target))).toBe(0)
    }
    // A third pool connects them.
    const connected = [...pools, narrowPool('3', ['c', 'b'], 600)]
    expect(shareOfBound(connected, trade(1e20))).toEqual({ share: expect.closeTo(1, 6) })
  })
})

test('a single full-range position pays like a constant product', () => {
  const state = concentratedOf({
    ...{ sqrtPrice: 1n << 96n, tick: 0, tickSpacing: 60 },
    positions: [{ lower: -887_220, upper: 887_220, liquidity: 10n ** 24n }],
  })
  const pool: Pool = { id: '1', address: '1', dex: 'test', tokens: ['a', 'b'], kind: 'uniswap-v3', feePpm: 0, ...state }
  const request = { source: 'a', target: 'b', amountIn: 10n ** 22n }
  // The position is a constant product with reserves of 10²⁴ each.
  const output = Number((10n ** 24n * 10n ** 22n) / (10n ** 24n + 10n ** 22n))
  expect(Number(bestRoute(createPoolMarket([pool]), request, unlimited)?.amountOut)).toBeCloseTo(output, -12)
})
