import { exactPaths } from './exact-paths.ts'
import { type Execution, executeRoute, type Refusal, type RouteSwap, SHARE_ALL } from './execute.ts'
import { curveAt } from './market.ts'
import { type PoolMarket, tokenIndexes, withoutEdges } from './pool-market.ts'
import { rebalanceSaturated } from './rebalance-saturated.ts'
import { type SearchOptions, type Split, search } from './search.ts'

export type RouteRequest = Readonly<{
  source: string
  target: string
  amountIn: bigint
  /** The part of each intermediate amount that later swaps leave, in millionths. The curves of the market must know it (`withMargin`). */
  marginPpm?: number
}>

/** A route with its exact amounts at the current state of the pools. */
export type Route = Execution &
  Readonly<{
    /** Total gas of its swaps. */
    gas: number
    /** By token index of the market, the dual price that the search found; 0 = none. `certify` makes an upper bound of them. */
    values: Float64Array
  }>

const SHARES = 2 ** 24
/** Roundings of shares to try if a saturated pool refuses shares that are rounded down. */
const OTHER_ROUNDINGS = [Math.ceil, Math.round] as const

/**
 * Reductions of a refused swap's input, one per attempt, as shares; at least the excess over its capacity. Sampled curves are approximate,
 * so slightly more than planned may arrive, and often at more than one saturated pool.
 */
const SHRINK_STEPS = [1e-6, 1e-6, 1e-5, 1e-5, 1e-5, 1e-4, 1e-4, 1e-4]

/**
 * Limit of repeated searches. Each excludes the swaps that fail in exact integers: those that a pool refuses, and those that pay so few
 * units that rounding matters.
 */
const REPEATS_MAX = 12
/** Below this output, one base unit is more than a basis point. */
const COARSE_UNITS = 10_000n

/** The route with the highest output net of gas, or null if no route leads from source to target. */
export function bestRoute(pools: PoolMarket, request: RouteRequest, options: SearchOptions): Route | null {
  const { source, target, amountIn } = request
  const from = pools.tokens.get(source)
  const to = pools.tokens.get(target)
  if (from === undefined || to === undefined || from === to || amountIn <= 0n) return null
  let remaining = pools
  let best: Route | null = null
  let values: Float64Array = new Float64Array(pools.tokens.size)
  const attemptAll = (splits: readonly Split[]): readonly Attempt[] =>
    splits.map((split) => {
      const attempt = { split, ...attemptRoundings(remaining, split, request) }
      const gas = gasOf(remaining, split)
      if (
        attempt.execution !== null &&
        (best === null || isBetter(attempt.execution.amountOut, gas, best, options.gasPrice))
      )
        best = { ...attempt.execution, gas, values }
      return attempt
    })
  for (let repeat = 0; repeat <= REPEATS_MAX; repeat++) {
    const result = search(remaining.market, from, to, Number(amountIn), options)
    // Later searches know fewer pools.
    if (repeat === 0) values = result.values
    const failedEdges = new Set(
      attemptAll(result.candidates).flatMap((attempt) => findFailedEdges(remaining, attempt, target)),
    )
    // If the amount exceeds the pools' capacity, removing more pools does not help.
    if (failedEdges.size === 0 || options.isOver() || (result.exceedsLiquidity && repeat > 0)) break
    if (repeat === 0) attemptAll(exactPaths(remaining, from, to, amountIn, options).map(asSinglePath))
    remaining = withoutEdges(remaining, failedEdges)
  }
  return best
}

const asSinglePath = (edges: readonly number[]): Split => edges.map((edge) => ({ edge, share: 1 }))

type Attempt = Readonly<{ split: Split; execution: Execution | null; failedIndex: number }>

/** Executes a split with shares rounded down. If a pool refuses, tries the other roundings, then less input for saturated pools. */
function attemptRoundings(
  pools: PoolMarket,
  split: Split,
  { source, target, amountIn, marginPpm }: RouteRequest,
): Pick<Attempt, 'execution' | 'failedIndex'> {
  const execute = (split: Split, round: (share: number) => number) =>
    executeRoute(toSwaps(pools, split, round), source, target, amountIn, marginPpm)
  let attempt: Execution | Refusal = execute(split, Math.floor)
  for (const round of OTHER_ROUNDINGS) if (attempt.amountOut === null) attempt = execute(split, round)
  let shrunk: Split | null = split
  const saturated = new Set<number>()
  for (const reduction of SHRINK_STEPS) {
    if (attempt.amountOut !== null) break
    shrunk = shrink(pools, shrunk, attempt, reduction, saturated)
    if (shrunk === null) break
    attempt = execute(shrunk, Math.floor)
  }
  return attempt.amountOut === null
    ? { execution: null, failedIndex: attempt.failedIndex }
    : { execution: attempt, failedIndex: -1 }
}

/**
 * Moves part of the refused swap's input elsewhere: the excess over its capacity, at least the share `reduction`. Null if that is
 * impossible.
 */
function shrink(
  { market }: PoolMarket,
  split: Split,
  { failedIndex, amountIn }: Refusal,
  reduction: number,
  saturated: Set<number>,
): Split | null {
  if (amountIn === 0n) return null
  const pairOf = ({ edge }: Split[number]) => market.pairOf[edge] as number
  const { startIn, price } = curveAt(market, split[failedIndex]?.edge ?? 0)
  const excess = 1 - (startIn[price.length] as number) / Number(amountIn)
  saturated.add(failedIndex)
  const flows = split.map((one) => ({
    from: market.pairFrom[pairOf(one)] as number,
    to: market.pairTo[pairOf(one)] as number,
    share: one.share,
  }))
  const shares = rebalanceSaturated(flows, failedIndex, Math.max(reduction, excess), saturated)
  return shares && split.map(({ edge }, index) => ({ edge, share: shares[index] as number }))
}

/** The edge of the refused swap; otherwise the edge with the lowest output below COARSE_UNITS of a token that is swapped on. */
function findFailedEdges(
  pools: PoolMarket,
  { split, execution, failedIndex }: Attempt,
  target: string,
): readonly number[] {
  if (execution === null) return split.slice(failedIndex, failedIndex + 1).map(({ edge }) => edge)
  const coarse = execution.swaps.filter(
    (swap) => swap.amountOut < COARSE_UNITS && swap.pool.tokens[swap.tokenOut] !== target,
  )
  const [least] = coarse.sort((a, b) => Number(a.amountOut - b.amountOut))
  if (least === undefined) return []
  const isLeast = (swap: RouteSwap) =>
    swap.pool === least.pool && swap.tokenIn === least.tokenIn && swap.tokenOut === least.tokenOut
  const index = toSwaps(pools, split, Math.floor).findIndex(isLeast)
  return split.slice(index, index + 1).map(({ edge }) => edge)
}

function isBetter(amountOut: bigint, gas: number, best: Route, gasPrice: number): boolean {
  const more = amountOut - best.amountOut
  const gasCost = BigInt(Math.round((gas - best.gas) * gasPrice))
  return more > gasCost
}

function gasOf({ market }: PoolMarket, split: Split): number {
  return split.reduce((sum, { edge }) => sum + curveAt(market, edge).gas, 0)
}

function toSwaps(pools: PoolMarket, split: Split, round: (share: number) => number): RouteSwap[] {
  return split.map(({ edge, share }) => {
    const pool = pools.pools[pools.market.pool[edge] as number] as RouteSwap['pool']
    // SHARE_ALL means the whole balance, so a partial share is at most one below it.
    const encoded = share === 1 ? SHARE_ALL : Math.min(SHARE_ALL - 1, round(share * SHARES))
    return { pool, ...tokenIndexes(pools, edge), share: encoded }
  })
}
