import { performance } from 'node:perf_hooks'
import { createPoolMarket, type PoolMarket } from '../server/src/swap/routing/pool-market.ts'
import type { UniswapV2Pool } from '../server/src/swap/routing/pools/uniswap-v2.ts'
import { bestRoute } from '../server/src/swap/routing/route.ts'
import { HOPS_MAX, type SearchOptions } from '../server/src/swap/routing/search.ts'
import type { Result } from './benchmarks.ts'
import { fourHopBound } from './hop-bound.ts'
import { median } from './load.ts'
import { PEERS_COMMAND } from './peers.ts'
import { createSwapMarket, type SwapMarket, type Trade } from './swap-markets.ts'
import { createTines, hopsOf, type TinesRouter } from './tines.ts'
import { readVectorMarkets } from './vector-markets.ts'

/*
 * Our router against others over the same pools in memory, trade by trade in turn. Gas is free on both sides, so that routes
 * are judged by what they pay; ours are computed to the unit, of the others' what they say they pay. Ours goes four hops, as
 * in production; tines goes as far as it likes. Where it goes farther, outputs are compared once more with the hops it took.
 */
const SIZES = [
  { size: 20, trades: 300, goal: 2 },
  { size: 100, trades: 200, goal: null },
  { size: 1_000, trades: 80, goal: 25 },
  { size: 10_000, trades: 20, goal: 300 },
] as const
const WARM_UP = 3_000
/** Float64 on their side: nearer than this is the same. */
const SAME = 1e-9
const SEED = 12_345
/** In larger markets the bound is computed where ours is missed alone, and in the largest not at all: it takes too long. */
const BOUND_MAX = 100
const MISSED_BOUND_MAX = 1_000
const FREE: SearchOptions = { hopsMax: HOPS_MAX, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }

type Outcome = Readonly<{
  keptMs: number
  builtMs: number
  theirMs: number
  ours: bigint
  /** With as many hops as the other took. */
  oursAsFar: bigint
  theirs: number
  /** No route of paths of up to four hops pays more; 0 = there is none, or not computed. */
  fourHops: number
  isSmall: boolean
}>

function route(market: PoolMarket, { tokens }: SwapMarket, trade: Trade, hopsMax = HOPS_MAX): bigint {
  const request = { source: tokens[trade.source] ?? '', target: tokens[trade.target] ?? '', amountIn: trade.amountIn }
  return bestRoute(market, request, { ...FREE, hopsMax })?.amountOut ?? 0n
}

function timed<T>(act: () => T): { result: T; ms: number } {
  const begun = performance.now()
  const result = act()
  return { result, ms: performance.now() - begun }
}

export function benchSwaps(): Promise<Result[]> {
  return Promise.resolve([...againstTines(), ...withDistantPools()])
}

/** Until the engine has compiled what is hot: as many quotes as a second brings. */
function warmUp(tines: TinesRouter): void {
  const market = createSwapMarket(20, SEED - 1)
  const pools = createPoolMarket(market.pools)
  for (let n = 0; n < WARM_UP; n++) {
    const trade = market.draw()
    route(pools, market, trade)
    if (n % 3 === 0) tines(trade)
  }
}

function againstTines(): Result[] {
  const warm = createTines(createSwapMarket(20, SEED - 1))
  if (warm === null) {
    const note = `not installed: ${PEERS_COMMAND}`
    return [{ name: 'route ÷ @sushiswap/tines', goal: null, figure: Number.NaN, unit: '', note }]
  }
  warmUp(warm)
  const all: Outcome[] = []
  const times = SIZES.map(({ size, trades, goal }): Result => {
    const outcomes = compareTrades(createSwapMarket(size, SEED + size), trades)
    all.push(...outcomes)
    const ours = median(outcomes.map(({ keptMs }) => keptMs))
    const theirs = median(outcomes.map(({ theirMs }) => theirMs))
    const built = median(outcomes.map(({ builtMs }) => builtMs))
    return {
      name: `route ÷ tines, ${size} pools`,
      goal: goal === null ? null : { atLeast: goal },
      figure: theirs / ours,
      unit: '',
      note: `medians of ${trades} trades: ${ours.toFixed(3)} and ${theirs.toFixed(2)} ms; market built anew ${(theirs / built).toFixed(2)}`,
    }
  })
  return [...times, ...onTheVectors(), ...compareOutputs(all)]
}

function compareTrades(market: SwapMarket, trades: number): Outcome[] {
  const tines = createTines(market)
  if (tines === null) throw new Error('the peer was there a moment ago')
  const kept = createPoolMarket(market.pools)
  const isSmall = market.pools.length <= BOUND_MAX
  return Array.from({ length: trades }, (_, n): Outcome => {
    const trade = market.draw()
    // The second of the two finds the caches as the first left them.
    const theirsFirst = n % 2 === 0 ? timed(() => tines(trade)) : null
    const ours = timed(() => route(kept, market, trade))
    const theirs = theirsFirst ?? timed(() => tines(trade))
    const built = timed(() => route(createPoolMarket(market.pools), market, trade))
    if (built.result !== ours.result) throw new Error('the same pools gave another route')
    const hops = hopsOf(theirs.result)
    const isMissed = Number(ours.result) < theirs.result.amountOut * (1 - SAME)
    return {
      ...{ keptMs: ours.ms, builtMs: built.ms, theirMs: theirs.ms },
      ours: ours.result,
      oursAsFar: hops > HOPS_MAX ? route(kept, market, trade, hops) : ours.result,
      theirs: theirs.result.amountOut,
      isSmall,
      fourHops: isSmall || (isMissed && market.pools.length <= MISSED_BOUND_MAX) ? fourHopBound(market, trade) : 0,
    }
  })
}

/** How much more ours pays, as a share, smallest first. */
const advantagesOf = (outcomes: readonly Outcome[], ours: (outcome: Outcome) => bigint): readonly number[] =>
  outcomes
    .filter((outcome) => ours(outcome) > 0n || outcome.theirs > 0)
    .map((outcome) => (outcome.theirs === 0 ? Number.POSITIVE_INFINITY : Number(ours(outcome)) / outcome.theirs - 1))
    .sort((a, b) => a - b)

/** Of how many theirs is equalled or beaten. */
const percentReached = (advantages: readonly number[]): number =>
  (advantages.filter((advantage) => advantage >= -SAME).length / advantages.length) * 100

function compareOutputs(outcomes: readonly Outcome[]): Result[] {
  const same = advantagesOf(outcomes, ({ oursAsFar }) => oursAsFar)
  const limited = advantagesOf(outcomes, ({ ours }) => ours)
  const missed = (advantages: readonly number[]) => Math.max(0, -(advantages[0] ?? 0)) * 1e4
  const basisPoints = (advantage: number) => `${(advantage * 1e4).toFixed(2)} bp`
  return [
    {
      name: 'output, tines equalled or beaten',
      goal: { atLeast: 99 },
      figure: percentReached(same),
      unit: '%',
      note: `${same.length} trades, as many hops; by ${basisPoints(median(same))} at the median, ${basisPoints(same.at(-1) ?? 0)} at most`,
    },
    { name: 'output, missed at worst', goal: { below: 0.1 }, figure: missed(same), unit: 'bp', note: 'as many hops' },
    {
      name: 'output, our four hops against any number',
      goal: null,
      figure: percentReached(limited),
      unit: '%',
      note: `missed by ${missed(limited).toFixed(2)} bp at worst`,
    },
    ...againstFourHops(outcomes),
  ]
}

/** Our four hops against any number of theirs, over the markets of vectors/routing_v2_optimality.json. */
function onTheVectors(): Result[] {
  const advantages = readVectorMarkets().map((market) => {
    const trade = market.draw()
    const theirs = createTines(market)?.(trade).amountOut ?? 0
    return theirs === 0 ? 0 : Number(route(createPoolMarket(market.pools), market, trade)) / theirs - 1
  })
  const worst = Math.min(...advantages)
  return [
    {
      name: 'output on the vectors, tines equalled or beaten',
      goal: { atLeast: 99 },
      figure: percentReached(advantages),
      unit: '%',
      note: `${advantages.length} markets, four hops against any number; by ${(median(advantages) * 1e4).toFixed(3)} bp at the median, ${(worst * 1e4).toFixed(3)} at worst`,
    },
  ]
}

/** A ten-thousandth of a basis point: float64, and shares of 24 bits. */
const REACHED = 1e-8

/** Our output against what paths of four hops can pay at most, whoever looks for them. */
function againstFourHops(outcomes: readonly Outcome[]): Result[] {
  const routed = outcomes.filter(({ fourHops, isSmall }) => isSmall && fourHops > 0)
  const short = routed.map(({ ours, fourHops }) => 1 - Number(ours) / fourHops)
  const isMissed = ({ ours, theirs }: Outcome) => Number(ours) < theirs * (1 - SAME)
  const missed = outcomes.filter((outcome) => outcome.fourHops > 0 && isMissed(outcome))
  const beyond = missed.filter(({ theirs, fourHops }) => theirs * (1 - SAME) > fourHops)
  return [
    {
      name: `output, the bound of four-hop paths reached, up to ${BOUND_MAX} pools`,
      goal: { atLeast: 99 },
      figure: (short.filter((share) => share <= REACHED).length / short.length) * 100,
      unit: '%',
      note: `${short.length} trades; missed by ${(Math.max(0, ...short) * 1e4).toFixed(3)} bp at worst`,
    },
    {
      name: 'of our four hops missed, beyond any four',
      goal: null,
      figure: missed.length === 0 ? 100 : (beyond.length / missed.length) * 100,
      unit: '%',
      note: `${beyond.length} of ${missed.length} trades: tines pays more than the bound of four-hop paths`,
    },
  ]
}

const DISTANT = { from: 300, to: 10_000, trades: 40 } as const

/** The pools of two tokens, and among ever more pools of others. */
function withDistantPools(): Result[] {
  const market = createSwapMarket(DISTANT.to + DISTANT.from, SEED)
  const ratios: number[] = []
  while (ratios.length < DISTANT.trades) {
    const trade = market.draw()
    const touches = ({ tokens }: UniswapV2Pool) =>
      tokens.includes(market.tokens[trade.source] ?? '') || tokens.includes(market.tokens[trade.target] ?? '')
    const near = market.pools.filter(touches)
    const others = market.pools.filter((pool) => !touches(pool))
    const [few, many] = [DISTANT.from, DISTANT.to].map((count) => {
      const pools = createPoolMarket([...near, ...others.slice(0, count)])
      if (route(pools, market, trade) === 0n) return null
      // The least of three: what else the machine does only adds.
      return Math.min(...[1, 2, 3].map(() => timed(() => route(pools, market, trade)).ms))
    })
    // Where a pair has no route at all, nothing is searched.
    if (few && many) ratios.push(many / few)
  }
  const growth = DISTANT.to / DISTANT.from
  return [
    {
      name: `time, ${growth.toFixed(0)} × pools that do not touch the pair`,
      goal: { below: Math.floor(growth) },
      figure: median(ratios),
      unit: '×',
      note: `${DISTANT.from} and ${DISTANT.to} of them; ${Math.max(...ratios).toFixed(1)} at most`,
    },
  ]
}
