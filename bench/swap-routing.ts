import { performance } from 'node:perf_hooks'
import { createPoolMarket, type PoolMarket } from '../server/src/swap/routing/pool-market.ts'
import type { UniswapV2Pool } from '../server/src/swap/routing/pools/uniswap-v2.ts'
import { bestRoute } from '../server/src/swap/routing/route.ts'
import { HOPS_MAX, type SearchOptions } from '../server/src/swap/routing/search.ts'
import type { Result } from './benchmarks.ts'
import { fourHopBound as computeFourHopBound } from './hop-bound.ts'
import { median } from './load.ts'
import { INSTALL_COMMAND } from './reference-packages.ts'
import { createSwapMarket, type SwapMarket, type Trade } from './swap-markets.ts'
import { countHops, createTines, type TinesRouter } from './tines.ts'
import { readVectorMarkets } from './vector-markets.ts'

/*
 * Compares our router with @sushiswap/tines on the same in-memory pools, alternating trade by trade. Gas is free for both, so that only
 * the output counts: exact for ours, as quoted for tines. Ours uses up to four hops, as in production; tines has no limit. Where tines
 * uses more hops, our output is computed again with that many.
 */
const SIZES = [
  { size: 20, trades: 300, goal: 2 },
  { size: 100, trades: 200, goal: null },
  { size: 1_000, trades: 80, goal: 25 },
  { size: 10_000, trades: 20, goal: 300 },
] as const
const WARM_UP = 3_000
/** Relative difference below which outputs count as equal, because tines uses float64. */
const EQUAL_TOLERANCE = 1e-9
const SEED = 12_345
/**
 * The four-hop bound takes long to compute. Up to the first size it is computed for every trade, up to the second only where tines
 * pays more, and above not at all.
 */
const BOUND_POOLS_MAX = 100
const SHORTFALL_BOUND_POOLS_MAX = 1_000
const OPTIONS: SearchOptions = {
  hopsMax: HOPS_MAX,
  swapsMax: Number.POSITIVE_INFINITY,
  gasPrice: 0,
  isOver: () => false,
}

type Outcome = Readonly<{
  /** Ours with the pool market in memory. */
  ourMs: number
  /** Ours including the creation of the pool market. */
  builtMs: number
  theirMs: number
  ours: bigint
  /** Our output with as many hops as tines used. */
  oursEqualHops: bigint
  theirs: number
  /** Upper bound of the output of paths of up to four hops; 0: no such path, or not computed. */
  fourHopBound: number
  isSmall: boolean
}>

function routeOutput(market: PoolMarket, { tokens }: SwapMarket, trade: Trade, hopsMax = HOPS_MAX): bigint {
  const request = { source: tokens[trade.source] ?? '', target: tokens[trade.target] ?? '', amountIn: trade.amountIn }
  return bestRoute(market, request, { ...OPTIONS, hopsMax })?.amountOut ?? 0n
}

function measure<T>(run: () => T): { result: T; ms: number } {
  const startedAt = performance.now()
  const result = run()
  return { result, ms: performance.now() - startedAt }
}

export function benchSwaps(): Promise<Result[]> {
  return Promise.resolve([...compareWithTines(), ...benchUnrelatedPools()])
}

/** Routes until V8 has optimized the hot functions. */
function warmUp(tines: TinesRouter): void {
  const market = createSwapMarket(20, SEED - 1)
  const pools = createPoolMarket(market.pools)
  for (let n = 0; n < WARM_UP; n++) {
    const trade = market.draw()
    routeOutput(pools, market, trade)
    if (n % 3 === 0) tines(trade)
  }
}

function compareWithTines(): Result[] {
  const tines = createTines(createSwapMarket(20, SEED - 1))
  if (tines === null) {
    const note = `not installed: ${INSTALL_COMMAND}`
    return [{ name: 'route ÷ @sushiswap/tines', goal: null, figure: Number.NaN, unit: '', note }]
  }
  warmUp(tines)
  const all: Outcome[] = []
  const times = SIZES.map(({ size, trades, goal }): Result => {
    const outcomes = compareTrades(createSwapMarket(size, SEED + size), trades)
    all.push(...outcomes)
    const ours = median(outcomes.map(({ ourMs }) => ourMs))
    const theirs = median(outcomes.map(({ theirMs }) => theirMs))
    const built = median(outcomes.map(({ builtMs }) => builtMs))
    return {
      name: `route ÷ tines, ${size} pools`,
      goal: goal === null ? null : { atLeast: goal },
      figure: theirs / ours,
      unit: '',
      note: `medians of ${trades} trades: ${ours.toFixed(3)} and ${theirs.toFixed(2)} ms; including market creation ${(theirs / built).toFixed(2)}`,
    }
  })
  return [...times, ...benchVectorMarkets(), ...compareOutputs(all)]
}

function compareTrades(market: SwapMarket, trades: number): Outcome[] {
  const tines = createTines(market)
  if (tines === null) throw new Error('@sushiswap/tines is no longer installed')
  const poolMarket = createPoolMarket(market.pools)
  const isSmall = market.pools.length <= BOUND_POOLS_MAX
  return Array.from({ length: trades }, (_, n): Outcome => {
    const trade = market.draw()
    // The first router fills the CPU caches, so the order alternates.
    const theirsFirst = n % 2 === 0 ? measure(() => tines(trade)) : null
    const ours = measure(() => routeOutput(poolMarket, market, trade))
    const theirs = theirsFirst ?? measure(() => tines(trade))
    const built = measure(() => routeOutput(createPoolMarket(market.pools), market, trade))
    if (built.result !== ours.result) throw new Error('the same pools gave a different output')
    const hops = countHops(theirs.result)
    const isShort = Number(ours.result) < theirs.result.amountOut * (1 - EQUAL_TOLERANCE)
    return {
      ...{ ourMs: ours.ms, builtMs: built.ms, theirMs: theirs.ms },
      ours: ours.result,
      oursEqualHops: hops > HOPS_MAX ? routeOutput(poolMarket, market, trade, hops) : ours.result,
      theirs: theirs.result.amountOut,
      isSmall,
      fourHopBound:
        isSmall || (isShort && market.pools.length <= SHORTFALL_BOUND_POOLS_MAX)
          ? computeFourHopBound(market, trade)
          : 0,
    }
  })
}

/** Relative advantages of our output, in ascending order. */
const advantagesOf = (outcomes: readonly Outcome[], ours: (outcome: Outcome) => bigint): readonly number[] =>
  outcomes
    .filter((outcome) => ours(outcome) > 0n || outcome.theirs > 0)
    .map((outcome) => (outcome.theirs === 0 ? Number.POSITIVE_INFINITY : Number(ours(outcome)) / outcome.theirs - 1))
    .sort((a, b) => a - b)

/** Percentage of trades in which our output equals or exceeds that of tines. */
const percentMatched = (advantages: readonly number[]): number =>
  (advantages.filter((advantage) => advantage >= -EQUAL_TOLERANCE).length / advantages.length) * 100

function compareOutputs(outcomes: readonly Outcome[]): Result[] {
  const equalHops = advantagesOf(outcomes, ({ oursEqualHops }) => oursEqualHops)
  const fourHops = advantagesOf(outcomes, ({ ours }) => ours)
  const shortfallBp = (advantages: readonly number[]) => Math.max(0, -(advantages[0] ?? 0)) * 1e4
  const basisPoints = (advantage: number) => `${(advantage * 1e4).toFixed(2)} bp`
  return [
    {
      name: 'output, tines equalled or beaten with as many hops',
      goal: { atLeast: 99 },
      figure: percentMatched(equalHops),
      unit: '%',
      note: `${equalHops.length} trades; advantage ${basisPoints(median(equalHops))} at the median, ${basisPoints(equalHops.at(-1) ?? 0)} at most`,
    },
    {
      name: 'output, worst shortfall with as many hops',
      goal: { below: 0.1 },
      figure: shortfallBp(equalHops),
      unit: 'bp',
      note: '',
    },
    {
      name: 'output, tines with any number of hops equalled or beaten by our four',
      goal: null,
      figure: percentMatched(fourHops),
      unit: '%',
      note: `worst shortfall ${shortfallBp(fourHops).toFixed(2)} bp`,
    },
    ...compareWithFourHopBound(outcomes),
  ]
}

/** Our four hops against any number of hops of tines, on the markets of vectors/routing_v2_optimality.json. */
function benchVectorMarkets(): Result[] {
  const advantages = readVectorMarkets().map((market) => {
    const trade = market.draw()
    const theirs = createTines(market)?.(trade).amountOut ?? 0
    return theirs === 0 ? 0 : Number(routeOutput(createPoolMarket(market.pools), market, trade)) / theirs - 1
  })
  const worst = Math.min(...advantages)
  return [
    {
      name: 'output on the 60 recorded markets, tines equalled or beaten',
      goal: { atLeast: 99 },
      figure: percentMatched(advantages),
      unit: '%',
      note: `${advantages.length} markets, four hops against any number; advantage ${(median(advantages) * 1e4).toFixed(3)} bp at the median, ${(worst * 1e4).toFixed(3)} bp at worst`,
    },
  ]
}

/** Relative distance from the bound that counts as reached (10^-4 bp), because of float64 and 24-bit shares. */
const BOUND_TOLERANCE = 1e-8

/** Compares our output with the upper bound of all routes of four-hop paths. */
function compareWithFourHopBound(outcomes: readonly Outcome[]): Result[] {
  const bounded = outcomes.filter(({ fourHopBound, isSmall }) => isSmall && fourHopBound > 0)
  const shortfalls = bounded.map(({ ours, fourHopBound }) => 1 - Number(ours) / fourHopBound)
  const isShort = ({ ours, theirs }: Outcome) => Number(ours) < theirs * (1 - EQUAL_TOLERANCE)
  const short = outcomes.filter((outcome) => outcome.fourHopBound > 0 && isShort(outcome))
  const beyondBound = short.filter(({ theirs, fourHopBound }) => theirs * (1 - EQUAL_TOLERANCE) > fourHopBound)
  return [
    {
      name: `output, the bound of four-hop paths reached, up to ${BOUND_POOLS_MAX} pools`,
      goal: { atLeast: 99 },
      figure: (shortfalls.filter((shortfall) => shortfall <= BOUND_TOLERANCE).length / shortfalls.length) * 100,
      unit: '%',
      note: `${shortfalls.length} trades; worst shortfall ${(Math.max(0, ...shortfalls) * 1e4).toFixed(3)} bp`,
    },
    {
      name: 'shortfalls against tines due to the limit of four hops',
      goal: null,
      figure: short.length === 0 ? 100 : (beyondBound.length / short.length) * 100,
      unit: '%',
      note: `in ${beyondBound.length} of ${short.length} trades tines pays more than the bound of four-hop paths`,
    },
  ]
}

const UNRELATED_POOLS = { from: 300, to: 10_000, trades: 40 } as const

/** Time of a route among few and many pools that contain neither token of the trade. */
function benchUnrelatedPools(): Result[] {
  const market = createSwapMarket(UNRELATED_POOLS.to + UNRELATED_POOLS.from, SEED)
  const ratios: number[] = []
  while (ratios.length < UNRELATED_POOLS.trades) {
    const trade = market.draw()
    const touches = ({ tokens }: UniswapV2Pool) =>
      tokens.includes(market.tokens[trade.source] ?? '') || tokens.includes(market.tokens[trade.target] ?? '')
    const relatedPools = market.pools.filter(touches)
    const others = market.pools.filter((pool) => !touches(pool))
    const [few, many] = [UNRELATED_POOLS.from, UNRELATED_POOLS.to].map((count) => {
      const pools = createPoolMarket([...relatedPools, ...others.slice(0, count)])
      if (routeOutput(pools, market, trade) === 0n) return null
      // The minimum of three runs, because other work of the machine only adds time.
      return Math.min(...[1, 2, 3].map(() => measure(() => routeOutput(pools, market, trade)).ms))
    })
    // Without a route the search ends at once, so the trade is ignored.
    if (few && many) ratios.push(many / few)
  }
  const growth = UNRELATED_POOLS.to / UNRELATED_POOLS.from
  return [
    {
      name: `time, ${growth.toFixed(0)} × pools that do not touch the pair`,
      goal: { below: Math.floor(growth) },
      figure: median(ratios),
      unit: '×',
      note: `${UNRELATED_POOLS.from} and ${UNRELATED_POOLS.to} of them; ${Math.max(...ratios).toFixed(1)} at most`,
    },
  ]
}
