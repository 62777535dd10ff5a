import { AppError } from '../../core/domain/errors.ts'
import type { PoolsAt } from '../../swap/ports/pools.ts'
import type { RoutedSwap, RouteOrder } from '../../swap/ports/router.ts'
import { likelyPaths } from '../../swap/routing/likely-paths.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { createPoolMarket, type PoolMarket } from '../../swap/routing/pool-market.ts'
import { bestRoute } from '../../swap/routing/route.ts'
import { HOPS_MAX, SWAPS_MAX } from '../../swap/routing/search.ts'
import { middleOutOf } from './middle-price.ts'

export type RouteLimits = Readonly<{
  /** The search ends with what it has after this time. */
  budgetMs: number
}>

/** How the gas of a swap is told in the target: at the price of a thousandth of a coin. */
const COIN_PROBE = 10n ** 15n
const MILLION = 1_000_000

/** Finds routes over one network's pools. The market is built when a route is first asked for after a change. */
export function createRouteFinder({ budgetMs }: RouteLimits) {
  type Built = Pick<PoolsAt, 'pools' | 'taxed'> & Readonly<{ market: PoolMarket; coinIn: Map<string, number> }>
  let built: Built | null = null

  function marketOf({ pools, taxed }: PoolsAt): Built {
    if (built?.pools === pools && built.taxed === taxed) return built
    // What such a pool pays is not what arrives.
    const whole = pools.filter(({ tokens }) => !tokens.some((token) => taxed.has(token)))
    built = { pools, taxed, market: createPoolMarket(whole), coinIn: new Map() }
    return built
  }

  /** Base units of a token for one wei; 0 where no pool tells. */
  function coinIn(market: PoolMarket, known: Map<string, number>, wrapped: string, token: string): number {
    const found = known.get(token)
    if (found !== undefined) return found
    const options = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice: 0, isOver: () => true }
    const route =
      token === wrapped ? null : bestRoute(market, { source: wrapped, target: token, amountIn: COIN_PROBE }, options)
    const rate = token === wrapped ? 1 : route === null ? 0 : Number(route.amountOut) / Number(COIN_PROBE)
    known.set(token, rate)
    return rate
  }

  return (at: PoolsAt, { tokenIn, tokenOut, amountIn }: RouteOrder): RoutedSwap => {
    for (const token of [tokenIn, tokenOut])
      if (at.taxed.has(token))
        throw new AppError('NO_ROUTE', `the token ${token} takes a fee on transfer: such tokens are not traded here`)
    const { market, coinIn: known } = marketOf(at)
    if (tokenIn === at.wrapped && tokenOut === at.wrapped) return wrap(at, amountIn)
    const deadline = performance.now() + budgetMs
    const gasPrice = Number(at.gasPrice) * coinIn(market, known, at.wrapped, tokenOut)
    const options = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice, isOver: () => performance.now() > deadline }
    const route = bestRoute(market, { source: tokenIn, target: tokenOut, amountIn }, options)
    if (route === null) throw refusal(market, tokenIn, tokenOut, amountIn)
    return {
      block: at.block,
      amountOut: route.amountOut,
      swaps: route.swaps.map((swap) => ({ ...swap, pool: withoutTicks(swap.pool) })),
      gas: route.gas,
      millionGasOut: BigInt(Math.round(gasPrice * MILLION)),
      middleOut: middleOutOf(route.swaps, tokenIn, tokenOut, amountIn),
    }
  }
}

/** Gas of a deposit or withdrawal of WETH9 through our executor. */
const WRAP_GAS = 30_000

/** The coin and its wrapped token are worth each other, and the token takes any amount. */
const wrap = ({ block, gasPrice }: PoolsAt, amountIn: bigint): RoutedSwap => ({
  ...{ block, amountOut: amountIn, swaps: [], gas: WRAP_GAS },
  ...{ millionGasOut: gasPrice * BigInt(MILLION), middleOut: amountIn },
})

function refusal({ market, tokens }: PoolMarket, tokenIn: string, tokenOut: string, amountIn: bigint): AppError {
  const from = tokens.get(tokenIn)
  const to = tokens.get(tokenOut)
  const isJoined =
    from !== undefined &&
    to !== undefined &&
    from !== to &&
    likelyPaths(market, from, to, Number(amountIn), HOPS_MAX).length > 0
  return isJoined
    ? new AppError('INSUFFICIENT_LIQUIDITY', 'the pools cannot trade this amount')
    : new AppError('NO_ROUTE', 'no pools that we know lead from one token to the other')
}

/** Thousands of ticks, which nobody needs to carry a route out, and which would have to be copied. */
function withoutTicks(pool: Pool): Pool {
  if ('ticks' in pool) return { ...pool, ticks: [] }
  return 'bins' in pool ? { ...pool, bins: [] } : pool
}
