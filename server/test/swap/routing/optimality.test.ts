import { describe, expect, test } from 'vitest'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute, type Route, type RouteRequest } from '../../../src/swap/routing/route.ts'
import type { SearchOptions } from '../../../src/swap/routing/search.ts'
import { concentratedOf } from './random-pools.ts'

/*
 * Arbitraged markets: the prices of all pools of a pair differ by less than their fees. Every pool has a connector token, so paths are
 * short. Routes are compared with the search's own dual bound, which `server/src/swap/routing/route.test.ts` compares with certified values in such
 * markets. It is no bound for the whole market where paths are longer: see `market-shapes.test.ts`.
 */
const MARKETS = 400
const TOKENS = 7
const CONNECTORS = 3
/** No effective limit of hops, because the bound has none. */
const unlimited: SearchOptions = {
  hopsMax: TOKENS,
  swapsMax: Number.POSITIVE_INFINITY,
  gasPrice: 0,
  isOver: () => false,
}
/** Sampled curves may underestimate the pool's output by this share, most for a fee that increases off the peg. */
const SAMPLED = { weighted: 1e-5, stable: 5e-3 }
const LOG_TICK = Math.log(1.0001)

/** Deterministic pseudo-random numbers from 0 to 1. */
function createDraws(seed: number): () => number {
  let state = BigInt(seed) + 1n
  return () => {
    // Linear congruential generator with Knuth's MMIX constants.
    state = (state * 6364136223846793005n + 1442695040888963407n) % (1n << 64n)
    return Number(state >> 11n) / 2 ** 53
  }
}

const units = (amount: number) => BigInt(Math.floor(amount * 1e6)) * 10n ** 12n

type Tier = Readonly<{ feePpm: number; tickSpacing: number }>
type PoolDraw = Readonly<{
  id: string
  tokens: readonly [string, string]
  price: number
  value: number
  draw: () => number
}>

const base = ({ id, tokens }: PoolDraw) => ({ id, address: id, dex: 'random', tokens })
const oneOf = <T>(list: readonly [T, ...T[]], draw: () => number): T =>
  list[Math.floor(draw() * list.length)] ?? list[0]

function constantProduct(sample: PoolDraw): Pool {
  const feePpm = oneOf([500, 2_500, 3_000, 10_000], sample.draw)
  const priceFactor = 1 + ((sample.draw() - 0.5) * feePpm) / 1e6
  const reserves = [units(sample.value), units(sample.value * sample.price * priceFactor)] as const
  return { ...base(sample), kind: 'uniswap-v2', reserves, feePpm }
}

const TIERS: readonly [Tier, ...Tier[]] = [
  { feePpm: 100, tickSpacing: 1 },
  { feePpm: 500, tickSpacing: 10 },
  { feePpm: 3_000, tickSpacing: 60 },
]

/** One full-range position and four narrow positions around the price. */
function concentrated(sample: PoolDraw): Pool {
  const { feePpm, tickSpacing } = oneOf(TIERS, sample.draw)
  const price = sample.price * (1 + ((sample.draw() - 0.5) * feePpm) / 1e6)
  const tick = Math.floor(Math.log(price) / LOG_TICK)
  const sqrtPrice = BigInt(Math.floor(Math.sqrt(price) * 2 ** 48)) << 48n
  const tickIndex = Math.floor(tick / tickSpacing)
  const outermost = Math.floor(880_000 / tickSpacing)
  const liquidity = (share: number) => units(sample.value * Math.sqrt(sample.price) * share)
  const narrow = Array.from({ length: 4 }, () => ({
    lower: (tickIndex - Math.floor(sample.draw() * 50)) * tickSpacing,
    upper: (tickIndex + 1 + Math.floor(sample.draw() * 50)) * tickSpacing,
    liquidity: liquidity(sample.draw() * 10),
  }))
  const fullRange = { lower: -outermost * tickSpacing, upper: outermost * tickSpacing, liquidity: liquidity(0.2) }
  const state = concentratedOf({ sqrtPrice, tick, tickSpacing, positions: [fullRange, ...narrow] })
  const kind = sample.draw()
  if (kind < 0.4) return { ...base(sample), ...state, kind: 'uniswap-v3', feePpm }
  if (kind < 0.7)
    return {
      ...base(sample),
      ...state,
      kind: 'uniswap-v4',
      lpFeePpm: feePpm,
      protocolFeePpm: [0, Math.floor(feePpm / 10)],
    }
  return { ...base(sample), ...state, kind: 'algebra', ticksBy: 'words', feePpm: [feePpm, feePpm] }
}

function weighted(sample: PoolDraw): Pool {
  const first = oneOf([50n, 80n, 20n], sample.draw)
  const ratio = Number(100n - first) / Number(first)
  return {
    ...base(sample),
    kind: 'balancer-weighted',
    vault: 'v2',
    balances: [units(sample.value), units(sample.value * sample.price * ratio)],
    scales: sample.tokens.map(() => ({ factor: 1n, rate: 10n ** 18n })),
    weights: [first * 10n ** 16n, (100n - first) * 10n ** 16n],
    swapFee: 3n * 10n ** 15n,
    aggregateFee: 0n,
    shortcuts: true,
  }
}

/**
 * A stable pool whose token rate equals the price, as for a token and its liquid staking token. Balances differ by at most 0.1 % from
 * parity.
 */
function stable(sample: PoolDraw): Pool {
  const balanceOf = (times: number) => units(sample.value * times * (1 + (sample.draw() - 0.5) / 500))
  const balances = [balanceOf(1), balanceOf(sample.price)] as const
  const rate = BigInt(Math.round(1e18 / sample.price))
  const amp = oneOf([50n, 200n, 1_000n], sample.draw)
  const kind = sample.draw()
  if (kind < 0.3)
    return {
      ...{ ...base(sample), kind: 'curve-stable', invariant: 'at-once', balances, amp: amp * 100n, ampPrecision: 100n },
      ...{ rates: [10n ** 18n, rate], fee: 4_000_000n, adminFee: 5n * 10n ** 9n, offPegFee: 5n * 10n ** 10n },
    }
  if (kind < 0.6)
    return {
      ...{ ...base(sample), kind: 'balancer-stable', vault: 'v2', rounding: 'down', balances, amp: amp * 1_000n },
      ...{
        scales: [10n ** 18n, rate].map((one) => ({ factor: 1n, rate: one })),
        swapFee: 4n * 10n ** 14n,
        aggregateFee: 0n,
      },
    }
  const tokenUnits = [10n ** 18n, BigInt(Math.round(1e18 * sample.price))] as const
  const isStable = kind < 0.8
  return {
    ...base(sample),
    kind: 'solidly',
    stable: isStable,
    newton: 'v2',
    reserves: balances,
    units: tokenUnits,
    feePpm: isStable ? 500 : 3_000,
  }
}

/** 31 bins around the price; the active bin has both tokens. */
function liquidityBook(sample: PoolDraw): Pool {
  const binStep = oneOf([5, 10, 20], sample.draw)
  const activeId = 2 ** 23 + Math.round(Math.log(sample.price) / Math.log(1 + binStep / 1e4))
  const bins = Array.from({ length: 31 }, (_, index) => {
    const [x, y] = [0, 1].map(() => sample.draw() / 15)
    const [below, above] = [index <= 15, index >= 15]
    const reserves = [
      above ? units(sample.value * (x ?? 0)) : 0n,
      below ? units(sample.value * sample.price * (y ?? 0)) : 0n,
    ]
    return { id: activeId - 15 + index, reserves: [reserves[0] ?? 0n, reserves[1] ?? 0n] as const }
  })
  return {
    ...{ ...base(sample), kind: 'liquidity-book', bins, activeId, binStep, now: 1_000_000 },
    fees: {
      ...{ baseFactor: 10_000n, filterPeriod: 30, decayPeriod: 600, reductionFactor: 5_000n, variableFeeControl: 0n },
      ...{ protocolShare: 1_000n, maxVolatilityAccumulator: 150_000n },
    },
    volatility: { accumulator: 0n, reference: 0n, idReference: activeId, lastUpdate: 999_000 },
  }
}

type Kinds = readonly [(sample: PoolDraw) => Pool, ...((sample: PoolDraw) => Pool)[]]

/** Trade sizes in USD. Pools have 10⁴ to 3·10⁶ USD. */
type TradeSizes = Readonly<{ least: number; most: number }>

function drawMarket(seed: number, kinds: Kinds, { least, most }: TradeSizes) {
  const draw = createDraws(seed)
  const usd = Array.from({ length: TOKENS }, () => Math.exp(draw() * 9 - 2))
  const pools = Array.from({ length: 8 + Math.floor(draw() * 30) }, (_, index) => {
    const connector = Math.floor(draw() * CONNECTORS)
    const other = (connector + 1 + Math.floor(draw() * (TOKENS - 1))) % TOKENS
    const worth = (token: number) => usd[token] ?? 1
    const value = (1e4 * 300 ** draw()) / worth(connector)
    const price = worth(connector) / worth(other)
    return oneOf(kinds, draw)({ id: String(index), tokens: [String(connector), String(other)], price, value, draw })
  })
  const source = Math.floor(draw() * TOKENS)
  const target = (source + 1 + Math.floor(draw() * (TOKENS - 1))) % TOKENS
  const amountIn = units((least * (most / least) ** draw()) / (usd[source] ?? 1))
  return { pools, request: { source: String(source), target: String(target), amountIn } }
}

/**
 * `unconnected`: no path leads to the target. `exceeded`: the pools of the source cannot take the input. `refused`: no route for another
 * reason. `full`: see `shareOfBound`.
 */
type Outcome = Readonly<{ share: number } | { leftOut: 'unconnected' | 'exceeded' | 'refused' | 'full' }>

function isConnected(pools: readonly Pool[], { source, target }: RouteRequest): boolean {
  const reached = new Set([source])
  // Each pass reaches the neighbours of all reached tokens.
  for (let pass = 0; pass < TOKENS; pass++)
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
  return { leftOut: capacityOf(pools, source, amountIn) < amountIn ? 'exceeded' : 'refused' }
}

/**
 * Output of the route as a share of the bound. A trade that exceeds the capacity of the pools is left out if it misses the bound: the
 * bound then leaves part of the input unspent, while a route must spend it all. The pools are full if a larger input barely raises the
 * bound.
 */
function shareOfBound(pools: readonly Pool[], request: RouteRequest): Outcome {
  const market = createPoolMarket(pools)
  const route = bestRoute(market, request, unlimited)
  if (route === null) return whyNoRoute(pools, request)
  expect(findUnspent(route, request)).toEqual([])
  const share = Number(route.amountOut) / route.bound
  if (share >= WORST_MIN) return { share }
  const larger = bestRoute(market, { ...request, amountIn: (request.amountIn * 101n) / 100n }, unlimited)
  return larger === null || larger.bound - route.bound < 1e-6 * route.bound ? { leftOut: 'full' } : { share }
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
const usual: TradeSizes = { least: 100, most: 5_000 }
const large: TradeSizes = { least: 5_000, most: 1e6 }
/** More than most of these pools hold. */
const huge: TradeSizes = { least: 1e5, most: 1e7 }

/**
 * How many trades may be left out although the pools of the source accept the input: those of the target, or in between, do not. The markets
 * are the same in each run, so a further trade is a fault.
 */
const LEFT_OUT_MAX: Readonly<Record<string, number>> = {
  'weighted, large': 34,
  'weighted, huge': 15,
  'three kinds, large': 12,
  'three kinds, huge': 7,
  'liquidity book, large': 16,
  'liquidity book, huge': 10,
  'every kind, large': 5,
  'every kind, huge': 3,
}

describe('routes in random markets reach the dual bound', () => {
  const kindsOf: Readonly<Record<string, Kinds>> = {
    'constant product': [constantProduct],
    concentrated: [concentrated],
    weighted: [weighted],
    'three kinds': [constantProduct, concentrated, weighted],
    stable: [stable],
    'liquidity book': [liquidityBook],
    'every kind': [constantProduct, concentrated, weighted, stable, liquidityBook],
  }
  const cases = Object.entries(kindsOf).flatMap(
    ([name, kinds]) =>
      [
        { name, kinds, size: 'usual', sizes: usual, markets: MARKETS },
        { name, kinds, size: 'large', sizes: large, markets: MARKETS },
        { name, kinds, size: 'huge', sizes: huge, markets: MARKETS / 4 },
      ] as const,
  )
  test.each(cases)('$name, $size trades', ({ name, size, kinds, sizes, markets }) => {
    // Half as many markets, because sampled curves are slow.
    const count = kinds.includes(stable) || kinds.includes(liquidityBook) ? markets / 2 : markets
    const outcomes = Array.from({ length: count }, (_, seed) => {
      const { pools, request } = drawMarket(seed, kinds, sizes)
      return shareOfBound(pools, request)
    })
    const shares = outcomes.flatMap((one) => ('share' in one ? one.share : [])).sort((a, b) => a - b)
    const countOf = (reason: string) => outcomes.filter((one) => 'leftOut' in one && one.leftOut === reason).length
    const [refused, full] = [countOf('refused'), countOf('full')]
    console.info(
      `${name}, ${size}: worst ${shares[0]} of ${shares.length}; left out: ${refused} refused, ${full} full, ${countOf('exceeded')} exceeded`,
    )
    expect(shares.length + refused + full + countOf('unconnected') + countOf('exceeded')).toBe(count)
    expect(refused + full).toBeLessThanOrEqual(LEFT_OUT_MAX[`${name}, ${size}`] ?? 0)
    expect(shares[Math.floor(shares.length / 2)]).toBeGreaterThanOrEqual(MEDIAN_MIN)
    expect(shares[0]).toBeGreaterThanOrEqual(WORST_MIN)
    expect(shares.at(-1)).toBeLessThan(1 + (kinds.includes(stable) ? SAMPLED.stable : SAMPLED.weighted))
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
    const { pools, request } = drawMarket(seed, kindsOf[name] ?? [constantProduct], sizes)
    expect(shareOfBound(pools, request)).toEqual({ share: expect.closeTo(1, 4) })
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
