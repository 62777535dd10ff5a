import { performance } from 'node:perf_hooks'
import { BUDGET_MS } from '../server/src/app/router.ts'
import { curveAt } from '../server/src/swap/routing/market.ts'
import { createPoolMarket, type PoolMarket } from '../server/src/swap/routing/pool-market.ts'
import { bestRoute, type Route } from '../server/src/swap/routing/route.ts'
import { HOPS_MAX, type SearchOptions, SWAPS_MAX } from '../server/src/swap/routing/search.ts'
import { median } from './load.ts'
import { INSTALL_COMMAND } from './reference-packages.ts'
import type { Result } from './results.ts'
import { createSwapMarket, type SwapMarket, type Trade } from './swap-markets.ts'
import { createTines, type TinesRoute, type TinesRouter } from './tines.ts'

/*
 * Compares our router with @sushiswap/tines on the same in-memory pools at the same cost of gas, trade by trade. Ours has
 * production's limits of hops, swaps and time; tines has no limit of hops. Both outputs are net of the gas of their swaps. Ours is
 * exact, that of tines is as it states it.
 */
const SIZES = [
  { size: 20, trades: 200, timeGoal: 2 },
  { size: 100, trades: 120, timeGoal: 5 },
  { size: 1_000, trades: 60, timeGoal: 25 },
  { size: 10_000, trades: 12, timeGoal: 300 },
] as const
/** US dollars for the gas of one swap: a rollup, a quiet main network, a busy one. */
const GAS_USD = [0.001, 0.05, 2] as const
/** Percentage of trades in which our output is at least that of tines. */
const OUTPUT_GOAL = 99
const WARM_UP = 3_000
/** Relative difference below which outputs count as equal, because the other routers use float64. */
const EQUAL_TOLERANCE = 1e-9
/** A shortfall that no customer notices: 0.1 bp. */
const NEAR_TOLERANCE = 1e-5
const SEED = 12_345

/** The limits of a search in production. The time limit begins with the call. */
export function productionOptions(gasPrice: number): SearchOptions {
  const deadline = performance.now() + BUDGET_MS
  return { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice, isOver: () => performance.now() > deadline }
}

type Outcome = Readonly<{
  theirMs: number
  ourMs: number
  /** Whether our time includes the creation of the pool market. Between two changes of the pools, production quotes from one market. */
  isBuilt: boolean
  /** Outputs net of gas, in base units of the target; 0: no route. */
  ours: number
  theirs: number
}>

function measure<T>(run: () => T): { result: T; ms: number } {
  const startedAt = performance.now()
  const result = run()
  return { result, ms: performance.now() - startedAt }
}

export function benchSwaps(): Promise<Result[]> {
  if (createTines(createSwapMarket(20, SEED - 1), 0) === null) {
    return Promise.resolve([{ name: 'route ÷ tines', figures: [], notJudged: `not installed: ${INSTALL_COMMAND}` }])
  }
  warmUp()
  return Promise.resolve(
    SIZES.flatMap(({ size, trades, timeGoal }) =>
      GAS_USD.map((gasUsd) => {
        const outcomes = compareTrades(createSwapMarket(size, SEED + size), trades, gasUsd)
        return toResult(`route ÷ tines, ${size} pools, gas of $${gasUsd} a swap`, outcomes, timeGoal)
      }),
    ),
  )
}

/** Routes until V8 has optimized the hot functions. */
function warmUp(): void {
  for (const gasUsd of GAS_USD) {
    const market = createSwapMarket(20, SEED - 1)
    const { ours, theirs } = createRouters(market, gasUsd)
    const pools = createPoolMarket(market.pools)
    for (let n = 0; n < WARM_UP / GAS_USD.length; n++) {
      const trade = market.draw()
      ours(pools, trade)
      if (n % 3 === 0) theirs(trade)
    }
  }
}

type Routers = Readonly<{
  ours(pools: PoolMarket, trade: Trade): Route | null
  theirs: TinesRouter
  /** Base units of the trade's target for one unit of gas. */
  gasPriceOf(trade: Trade): number
}>

function createRouters(market: SwapMarket, gasUsd: number): Routers {
  // The same gas for each swap on both sides.
  const swapGas = curveAt(createPoolMarket(market.pools).market, 0).gas
  const gasPriceIn = (token: number) => ((gasUsd / (market.usd[token] ?? 1)) * 1e18) / swapGas
  const theirs = createTines(market, gasPriceIn(0), swapGas)
  if (theirs === null) throw new Error('@sushiswap/tines is no longer installed')
  return {
    theirs,
    gasPriceOf: ({ target }) => gasPriceIn(target),
    ours: (pools, { source, target, amountIn }) => {
      const request = { source: market.tokens[source] ?? '', target: market.tokens[target] ?? '', amountIn }
      return bestRoute(pools, request, productionOptions(gasPriceIn(target)))
    },
  }
}

function compareTrades(market: SwapMarket, trades: number, gasUsd: number): Outcome[] {
  const { ours, theirs, gasPriceOf } = createRouters(market, gasUsd)
  const pools = createPoolMarket(market.pools)
  return Array.from({ length: trades }, (_, n): Outcome => {
    const trade = market.draw()
    const isBuilt = n % 2 === 1
    // Each runs directly after the other, so that neither finds the CPU caches as its own last search left them.
    const their = measure(() => theirs(trade))
    const own = measure(() => ours(isBuilt ? createPoolMarket(market.pools) : pools, trade))
    return {
      ...{ theirMs: their.ms, ourMs: own.ms, isBuilt },
      ours: netOf(own.result && { amountOut: Number(own.result.amountOut), gas: own.result.gas }, gasPriceOf(trade)),
      theirs: netOf(tinesOutput(their.result), gasPriceOf(trade)),
    }
  })
}

type Output = Readonly<{ amountOut: number; gas: number }>

const tinesOutput = ({ amountOut, gasSpent }: TinesRoute): Output | null =>
  amountOut > 0 ? { amountOut, gas: gasSpent } : null

const netOf = (output: Output | null, gasPrice: number): number =>
  output === null ? 0 : output.amountOut - output.gas * gasPrice

function toResult(name: string, outcomes: readonly Outcome[], timeGoal: number): Result {
  const theirs = median(outcomes.map(({ theirMs }) => theirMs))
  const [ours, built] = [false, true].map((isBuilt) =>
    median(outcomes.filter((outcome) => outcome.isBuilt === isBuilt).map(({ ourMs }) => ourMs)),
  ) as [number, number]
  const advantages = advantagesOf(outcomes)
  const inBasisPoints = (advantage = 0) => `${(advantage * 1e4).toFixed(2)} bp`
  const shortfall = Math.max(0, -(advantages[0] ?? 0))
  const near = advantages.filter((advantage) => advantage >= -NEAR_TOLERANCE).length / advantages.length
  return {
    name,
    figures: [
      { value: theirs / ours, unit: '×', goal: { atLeast: timeGoal } },
      { value: percentMatched(advantages), unit: '%', goal: { atLeast: OUTPUT_GOAL } },
    ],
    note: `medians of ${outcomes.length} trades: ${ours.toFixed(2)} and ${theirs.toFixed(2)} ms; ${(theirs / built).toFixed(1)} × with the market built for each quote; output net of gas: ${inBasisPoints(median(advantages))} more at the median, worst shortfall ${inBasisPoints(shortfall)}, below 0.1 bp in ${(near * 100).toFixed(0)} % of the trades`,
  }
}

type Outputs = Readonly<{ ours: bigint | number; theirs: bigint | number }>

/** Relative advantages of our outputs, in ascending order. Trades for which neither router finds a route are ignored. */
export const advantagesOf = (outputs: readonly Outputs[]): readonly number[] =>
  outputs
    .filter(({ ours, theirs }) => ours > 0 || theirs > 0)
    .map(({ ours, theirs }) => (theirs > 0 ? Number(ours) / Number(theirs) - 1 : Number.POSITIVE_INFINITY))
    .sort((a, b) => a - b)

/** Percentage of trades in which our output equals or exceeds the other router's. */
export const percentMatched = (advantages: readonly number[]): number =>
  (advantages.filter((advantage) => advantage >= -EQUAL_TOLERANCE).length / advantages.length) * 100
