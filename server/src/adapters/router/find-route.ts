import { AppError } from '../../core/domain/errors.ts'
import type { PoolsAt } from '../../swap/ports/pools.ts'
import type { RoutedSwap, RouteOrder } from '../../swap/ports/router.ts'
import { likelyPaths } from '../../swap/routing/likely-paths.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { PoolMarket } from '../../swap/routing/pool-market.ts'
import { bestRoute } from '../../swap/routing/route.ts'
import { HOPS_MAX, SWAPS_MAX } from '../../swap/routing/search.ts'
import { middleOutOf } from './middle-price.ts'
import { createRouteMarkets, type RouteMarket } from './route-markets.ts'

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

  return (at: PoolsAt, { tokenIn, tokenOut, amountIn, avoid = [] }: RouteOrder): RoutedSwap => {
    for (const token of [tokenIn, tokenOut]) {
      const reason = at.refusedTokens.get(token)
      if (reason !== undefined) throw new AppError('NO_ROUTE', `the token ${token} ${reason}, which is not supported`)
    }
    if (tokenIn === at.wrapped && tokenOut === at.wrapped) return wrap(at, amountIn)
    const current = marketOf(at, { tokenIn, tokenOut, avoid })
    const { market } = current
    const deadline = performance.now() + budgetMs
    const gasPrice = (Number(at.millionGasPrice) / MILLION) * nativeRate(current, at, tokenOut)
    const limits = at.routeLimits ?? { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX }
    const options = { ...limits, gasPrice, isOver: () => performance.now() > deadline }
    const route = bestRoute(market, { source: tokenIn, target: tokenOut, amountIn }, options)
    if (route === null) throw refusal(market, { tokenIn, tokenOut, amountIn }, limits.hopsMax)
    return {
      block: at.block,
      amountOut: route.amountOut,
      swaps: route.swaps.map((swap) => ({ ...swap, pool: withoutTicks(swap.pool) })),
      gas: route.gas,
      millionGasOut: BigInt(Math.round(gasPrice * MILLION)),
      middleOut: middleOutOf(route.swaps, tokenIn, tokenOut, amountIn),
      unlisted: [tokenIn, tokenOut].filter((token) => !at.listed.has(token)),
    }
  }
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
