import type { RouteLimits } from '../../swap/ports/pools.ts'
import type { Remainder, RouteOrder } from '../../swap/ports/router.ts'
import { type ExecutedSwap, type Execution, executeRoute } from '../../swap/routing/execute.ts'
import { type PoolMarket, withMargin } from '../../swap/routing/pool-market.ts'
import { narrowPool } from '../../swap/routing/pools/solana/narrow-pool.ts'
import { bestRoute, type Route } from '../../swap/routing/route.ts'
import type { SearchOptions } from '../../swap/routing/search.ts'

type Options = Pick<SearchOptions, 'gasPrice' | 'isOver'>

/** `amountOut` and `swaps` with the margin of intermediate amounts; `ideal` without it. */
export type StatedRoute = Pick<Route, 'amountOut' | 'swaps' | 'gas'> &
  Readonly<{ ideal: Execution; remainders: readonly Remainder[] }>

/**
 * The best route of a network whose transactions state the amounts of each swap. A route with an intermediate token leaves a part of it, which
 * does not count: the route must pay more than those without one. A route that no transaction can hold is searched again with fewer swaps;
 * `too-large` if no route is small enough.
 */
export function bestStatedRoute(
  market: PoolMarket,
  order: RouteOrder,
  limits: RouteLimits,
  options: Options,
): StatedRoute | 'too-large' | null {
  let best: StatedRoute | 'too-large' | null = null
  for (let hopsMax = 1; hopsMax <= limits.hopsMax; hopsMax++) {
    const route = findFitting(market, order, { ...limits, hopsMax }, options)
    if (route === null || (route === 'too-large' && best !== null)) continue
    if (best === null || best === 'too-large' || route === 'too-large') best = route
    else if (netOf(route, options) > netOf(best, options)) best = route
  }
  return best
}

const netOf = ({ amountOut, gas }: StatedRoute, { gasPrice }: Options): bigint =>
  amountOut - BigInt(Math.round(gas * gasPrice))

function findFitting(
  market: PoolMarket,
  order: RouteOrder,
  limits: RouteLimits,
  options: Options,
): StatedRoute | 'too-large' | null {
  const { tokenIn, tokenOut, amountIn, feePpm = 0, slippagePpm = 0 } = order
  const marginPpm = limits.hopsMax === 1 ? 0 : Math.min(slippagePpm, limits.marginMaxPpm)
  const terms = { tokenIn, tokenOut, paysFee: feePpm > 0 }
  const request = { source: tokenIn, target: tokenOut, amountIn, marginPpm }
  const ofSureOutputs = marginPpm === 0 ? market : withMargin(market, request, marginPpm)
  for (let { swapsMax } = limits; swapsMax >= limits.hopsMax; swapsMax--) {
    const search = { ...options, hopsMax: limits.hopsMax, swapsMax }
    const route = bestRoute(ofSureOutputs, request, search)
    if (route === null) return null
    const stated = stateAmounts(route, order)
    if (limits.fits(stated.swaps, terms)) return stated
  }
  return 'too-large'
}

function stateAmounts(route: Route, { tokenIn, tokenOut, amountIn }: RouteOrder): StatedRoute {
  const { amountOut, gas } = route
  // A pool that is nearly full refuses what it would get without the margin. Then the rest counts as price impact.
  const ideal = executeRoute(route.swaps, tokenIn, tokenOut, amountIn)
  const swaps = route.swaps.map((swap) => ({ ...swap, pool: narrowPool(swap.pool, swap.tokenIn, swap.amountIn) }))
  const remainders = remaindersOf(swaps, [tokenIn, tokenOut])
  return { amountOut, swaps, gas, ideal: ideal.amountOut === null ? route : ideal, remainders }
}

/** Of each intermediate token, what the swaps pay and do not spend. */
function remaindersOf(swaps: readonly ExecutedSwap[], ends: readonly string[]): readonly Remainder[] {
  const left = new Map<string, Remainder>()
  const add = ({ pool }: ExecutedSwap, index: number, units: bigint) => {
    const token = pool.tokens[index] ?? ''
    const decimals = 'decimals' in pool ? (pool.decimals[index === 0 ? 0 : 1] ?? 0) : 0
    if (!ends.includes(token)) left.set(token, { token, decimals, units: (left.get(token)?.units ?? 0n) + units })
  }
  for (const swap of swaps) {
    add(swap, swap.tokenIn, -swap.amountIn)
    add(swap, swap.tokenOut, swap.amountOut)
  }
  return [...left.values()].filter(({ units }) => units > 0n)
}
