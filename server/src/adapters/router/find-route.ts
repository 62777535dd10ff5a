import { AppError } from '../../core/domain/errors.ts'
import type { PoolsAt, RouteLimits } from '../../swap/ports/pools.ts'
import type { RoutedSwap, RouteOrder } from '../../swap/ports/router.ts'
import { likelyPaths } from '../../swap/routing/likely-paths.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { PoolMarket } from '../../swap/routing/pool-market.ts'
import { bestRoute } from '../../swap/routing/route.ts'
import { HOPS_MAX, type SearchOptions, SWAPS_MAX } from '../../swap/routing/search.ts'
import { middleOutOf } from './middle-price.ts'
import { createRouteMarkets, type RouteMarket } from './route-markets.ts'
import { bestStatedRoute } from './stated-route.ts'

export type RouteBudget = Readonly<{
  /** Time limit of a search, which then returns its best route. */
  budgetMs: number
}>

/** Decimals of the native amount whose output prices gas in the output token: a thousandth of a coin. */
const PROBE_DECIMALS = 3
const MILLION = 1_000_000

/** Finds routes over one network's pools. */
export function createRouteFinder({ budgetMs }: RouteBudget) {
  const marketOf = createRouteMarkets()

  /** Base units of a token for a base unit of the native coin; 0 if no pool prices it. */
  function nativeRate(
    { market, nativeRates }: RouteMarket,
    { wrapped, nativeDecimals }: PoolsAt,
    token: string,
  ): number {
    const cachedRate = nativeRates.get(token)
    if (cachedRate !== undefined) return cachedRate
    const options = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice: 0, isOver: () => true }
    const amountIn = 10n ** BigInt(Math.max(0, nativeDecimals - PROBE_DECIMALS))
    const route = token === wrapped ? null : bestRoute(market, { source: wrapped, target: token, amountIn }, options)
    const rate = token === wrapped ? 1 : route === null ? 0 : Number(route.amountOut) / Number(amountIn)
    nativeRates.set(token, rate)
    return rate
  }

  return (at: PoolsAt, order: RouteOrder): RoutedSwap => {
    const { tokenIn, tokenOut, amountIn, avoid = [] } = order
    for (const token of [tokenIn, tokenOut]) {
      const reason = at.refusedTokens.get(token)
      if (reason !== undefined) throw new AppError('NO_ROUTE', `the token ${token} ${reason}, which is not supported`)
    }
    if (tokenIn === at.wrapped && tokenOut === at.wrapped) return wrap(at, amountIn)
    const current = marketOf(at, { tokenIn, tokenOut, avoid })
    const { market } = current
    const deadline = performance.now() + budgetMs
    const gasPrice = (Number(at.millionGasPrice) / MILLION) * nativeRate(current, at, tokenOut)
    const options = { gasPrice, isOver: () => performance.now() > deadline }
    const routed = at.routeLimits
      ? findStated(market, order, at.routeLimits, options)
      : findFree(market, order, options)
    if (routed === null) throw refusal(market, order, at.routeLimits?.hopsMax ?? HOPS_MAX)
    return {
      ...routed,
      block: at.block,
      swaps: routed.swaps.map((swap) => ({ ...swap, pool: withoutTicks(swap.pool) })),
      millionGasOut: BigInt(Math.round(gasPrice * MILLION)),
      unlisted: [tokenIn, tokenOut].filter((token) => !at.listed.has(token)),
    }
  }
}

type Found = Pick<RoutedSwap, 'amountOut' | 'swaps' | 'gas' | 'middleOut' | 'remainders'>
type Options = Pick<SearchOptions, 'gasPrice' | 'isOver'>

function findFree(market: PoolMarket, { tokenIn, tokenOut, amountIn }: RouteOrder, options: Options): Found | null {
  const limits = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX }
  const route = bestRoute(market, { source: tokenIn, target: tokenOut, amountIn }, { ...limits, ...options })
  if (route === null) return null
  const { amountOut, swaps, gas } = route
  return { amountOut, swaps, gas, middleOut: middleOutOf(swaps, tokenIn, tokenOut, amountIn) }
}

function findStated(market: PoolMarket, order: RouteOrder, limits: RouteLimits, options: Options): Found | null {
  const { tokenIn, tokenOut, amountIn } = order
  const route = bestStatedRoute(market, order, limits, options)
  if (route === 'too-large')
    throw new AppError('NO_ROUTE', 'a transaction cannot hold all accounts of the pools between the two tokens')
  if (route === null) return null
  const { amountOut, swaps, gas, ideal, remainders } = route
  // What remains as an intermediate token is no price impact.
  const middleOut = (middleOutOf(ideal.swaps, tokenIn, tokenOut, amountIn) * amountOut) / ideal.amountOut
  return { amountOut, swaps, gas, middleOut, ...(remainders.length === 0 ? {} : { remainders }) }
}

/** Gas of a WETH9 deposit or withdrawal through our executor. */
const WRAP_GAS = 30_000

/** Wraps or unwraps native currency: one to one, for any amount. */
const wrap = ({ block, millionGasPrice }: PoolsAt, amountIn: bigint): RoutedSwap => ({
  ...{ block, amountOut: amountIn, swaps: [], gas: WRAP_GAS },
  ...{ millionGasOut: millionGasPrice, middleOut: amountIn, unlisted: [] },
})

function refusal(
  { market, tokens }: PoolMarket,
  { tokenIn, tokenOut, amountIn }: Pick<RouteOrder, 'tokenIn' | 'tokenOut' | 'amountIn'>,
  hopsMax: number,
): AppError {
  const from = tokens.get(tokenIn)
  const to = tokens.get(tokenOut)
  const isConnected =
    from !== undefined &&
    to !== undefined &&
    from !== to &&
    likelyPaths(market, from, to, Number(amountIn), hopsMax).length > 0
  return isConnected
    ? new AppError('INSUFFICIENT_LIQUIDITY', 'the pools cannot trade this amount')
    : new AppError('NO_ROUTE', 'no known pools connect the two tokens')
}

/** Drops thousands of ticks or bins, which the execution does not need and the message would have to copy. */
function withoutTicks(pool: Pool): Pool {
  if ('ticks' in pool) return { ...pool, ticks: [] }
  if (pool.kind === 'raydium-clmm') return { ...pool, state: { ...pool.state, tickArrays: new Map() } }
  if (pool.kind === 'meteora-dlmm') return { ...pool, state: { ...pool.state, binArrays: new Map() } }
  return 'bins' in pool ? { ...pool, bins: [] } : pool
}
