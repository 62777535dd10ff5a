import { exactPaths } from './exact-paths.ts'
import { type Execution, executeRoute, type Refusal, type RouteSwap, SHARE_ALL } from './execute.ts'
import { curveAt } from './market.ts'
import { type PoolMarket, tokenIndexes, withoutEdges } from './pool-market.ts'
import { rebalanceSaturated } from './rebalance-saturated.ts'
import { type SearchOptions, type Split, search } from './search.ts'

export type RouteRequest = Readonly<{ source: string; target: string; amountIn: bigint }>

/** A route with the exact amounts that it will move at the pools' present state. */
export type Route = Execution &
  Readonly<{
    /** Gas of its swaps. */
    gas: number
    /** No route without gas through the pools looked at pays more, in float64: how good the search was. */
    bound: number
  }>

const SHARES = 2 ** 24
/** Where a pool stands at its end, a share rounded another way may be what it still takes. */
const OTHER_ROUNDINGS = [Math.ceil, Math.round] as const

/**
 * Curves are sampled, so that a little more may arrive than was reckoned with: of what a pool refuses, this part goes elsewhere,
 * or as much as is too much; often more than one stands at its end.
 */
const SHRINK_STEPS = [1e-6, 1e-6, 1e-5, 1e-5, 1e-5, 1e-4, 1e-4, 1e-4]

/**
 * So often the search is repeated without a swap that it reckoned with and that integers do not carry: one that a pool refuses,
 * or pays in so few units that what is rounded off counts.
 */
const REPEATS_MAX = 12
/** One unit of fewer is more than a basis point. */
const COARSE_UNITS = 10_000n

/** The route that pays most, net of gas; null where none leads from source to target. */
export function bestRoute(pools: PoolMarket, request: RouteRequest, options: SearchOptions): Route | null {
  const { source, target, amountIn } = request
  const from = pools.tokens.get(source)
  const to = pools.tokens.get(target)
  if (from === undefined || to === undefined || from === to || amountIn <= 0n) return null
  let remaining = pools
  let best: Route | null = null
  let bound = 0
  const attemptAll = (splits: readonly Split[]): readonly Attempt[] =>
    splits.map((split) => {
      const attempt = { split, ...attemptRoundings(remaining, split, request) }
      const gas = gasOf(remaining, split)
      if (attempt.executed !== null && (best === null || isBetter(attempt.executed.amountOut, gas, best, options.gasPrice)))
        best = { ...attempt.executed, gas, bound }
      return attempt
    })
  for (let repeat = 0; repeat <= REPEATS_MAX; repeat++) {
    const result = search(remaining.market, from, to, Number(amountIn), options)
    bound = Math.max(bound, result.bound)
    const failedEdges = new Set(attemptAll(result.candidates).flatMap((attempt) => findFailedEdges(remaining, attempt, target)))
    // Where pools take too little, fewer of them hardly take more.
    if (failedEdges.size === 0 || options.isOver() || (result.exceedsLiquidity && repeat > 0)) break
    if (repeat === 0) attemptAll(exactPaths(remaining, from, to, amountIn, options).map(asSinglePath))
    remaining = withoutEdges(remaining, failedEdges)
  }
  return best
}

const asSinglePath = (edges: readonly number[]): Split => edges.map((edge) => ({ edge, share: 1 }))

type Attempt = Readonly<{ split: Split; executed: Execution | null; failedIndex: number }>

/** With shares rounded down, or where that is refused, the other ways, or less where a pool is at its end. */
function attemptRoundings(
  pools: PoolMarket,
  split: Split,
  { source, target, amountIn }: RouteRequest,
): Pick<Attempt, 'executed' | 'failedIndex'> {
  const execute = (split: Split, round: (reduction: number) => number) =>
    executeRoute(toSwaps(pools, split, round), source, target, amountIn)
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
  return attempt.amountOut === null ? { executed: null, failedIndex: attempt.failedIndex } : { executed: attempt, failedIndex: -1 }
}

/** With so much less for the swap that was refused that it can take it; by `part` at least. */
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

/** The edge of the swap that is refused; else of the one that pays the fewest units of a token that goes on, where they are few. */
function findFailedEdges(pools: PoolMarket, { split, executed, failedIndex }: Attempt, target: string): readonly number[] {
  if (executed === null) return split.slice(failedIndex, failedIndex + 1).map(({ edge }) => edge)
  const coarse = executed.swaps.filter((swap) => swap.amountOut < COARSE_UNITS && swap.pool.tokens[swap.tokenOut] !== target)
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

function toSwaps(pools: PoolMarket, split: Split, round: (reduction: number) => number): RouteSwap[] {
  return split.map(({ edge, share }) => {
    const pool = pools.pools[pools.market.pool[edge] as number] as RouteSwap['pool']
    // The greatest share means all that is left, so a part is at most one below it.
    const reduction = share === 1 ? SHARE_ALL : Math.min(SHARE_ALL - 1, round(share * SHARES))
    return { pool, ...tokenIndexes(pools, edge), share: reduction }
  })
}
