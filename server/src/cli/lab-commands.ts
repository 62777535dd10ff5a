import type { Command } from 'commander'
import { smallest } from '../lib/bigint.ts'
import { certify } from '../swap/routing/certificate.ts'
import type { Pool } from '../swap/routing/pool-kinds.ts'
import { createPoolMarket, type PoolMarket } from '../swap/routing/pool-market.ts'
import { limitOf, swapThroughTicks } from '../swap/routing/pools/concentrated.ts'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE } from '../swap/routing/pools/tick-math.ts'
import { RESERVE_MAX, GAS as UNISWAP_V2_GAS } from '../swap/routing/pools/uniswap-v2.ts'
import { bestRoute, type Route } from '../swap/routing/route.ts'
import { HOPS_MAX } from '../swap/routing/search.ts'
import { findReplay } from './lab/recorded-swaps.ts'
import { type LabCase, type LabPair, type LabPool, readLabCases, readLabFile, readLabPools } from './lab-file.ts'
import { fail, print } from './print.ts'

/** For developers: runs the pool maths and the router on markets from a file. Prints one JSON line per case. */
export function addLabCommands(program: Command): void {
  const lab = program.command('lab').description('runs the pool maths and the router on markets from a file')
  lab
    .command('pools <file>')
    .description('computes swaps of the pools of a file; docs/pool-maths.md describes the formats')
    .action((file: string) => {
      const content = readLabFile(file)
      const replay = findReplay(content)
      if (replay === null) readLabPools(content, file).forEach(printSwaps)
      else replay(content).forEach(print)
    })
  lab
    .command('route <file>')
    .description('finds the best routes through Uniswap V2 pools; docs/pool-maths.md describes the format')
    .option('--repeat <times>', 'how often each case is searched; micros is the median', '1')
    .action((file: string, { repeat }: { repeat: string }) => {
      if (!/^[1-9][0-9]{0,5}$/.test(repeat)) fail('--repeat must be a whole number from 1 to 999999')
      const marketOf = createLabMarkets()
      for (const [index, one] of readLabCases(file).entries())
        printRoute(one, index, marketOf(one.pools), Number(repeat))
    })
}

function printSwaps(pool: LabPool, index: number): void {
  const { sqrtPrice, tick, tickSpacing, liquidity, ticks, fee } = pool
  const state = { sqrtPrice, tick, tickSpacing, liquidity, ticks }
  for (const [swap, { zeroForOne, amountSpecified, limit }] of pool.swaps.entries()) {
    const end = limit ?? limitOf(zeroForOne)
    const error = revertReason(sqrtPrice, zeroForOne, amountSpecified, end)
    if (error !== null) {
      print({ pool: index, swap, error })
      continue
    }
    const moved = swapThroughTicks(state, zeroForOne, amountSpecified, end, fee)
    print({
      pool: index,
      swap,
      amount0: moved.amount0,
      amount1: moved.amount1,
      sqrtPriceX96After: moved.sqrtPrice,
      tickAfter: moved.tick,
      liquidityAfter: moved.liquidity,
    })
  }
}

/** The reason with which UniswapV3Pool.swap reverts at once: a zero amount, or a limit behind the price or out of range. */
function revertReason(price: bigint, zeroForOne: boolean, amount: bigint, limit: bigint): string | null {
  if (amount === 0n) return 'AS'
  const isReachable = zeroForOne ? limit < price && limit > MIN_SQRT_PRICE : limit > price && limit < MAX_SQRT_PRICE
  return isReachable ? null : 'SPL'
}

/** An amount without a route is divided by 2^4 repeatedly, to find out whether it was too large. */
const SHRINK_BITS = 4n

/** Builds each market once. */
function createLabMarkets(): (pools: readonly LabPair[]) => PoolMarket {
  const built = new Map<readonly LabPair[], PoolMarket>()
  return (pairs) => {
    const known = built.get(pairs)
    if (known !== undefined) return known
    const market = createPoolMarket(
      pairs.map(({ tokens: [token0, token1], reserves, feePpm }, id): Pool => {
        const tokens = [String(token0), String(token1)] as const
        return { kind: 'uniswap-v2', id: String(id), address: String(id), dex: 'lab', tokens, reserves, feePpm }
      }),
    )
    built.set(pairs, market)
    return market
  }
}

/**
 * `out` is before the cost of swaps, `net` after it; `bound` is an upper bound of `net`, and `micros` the median time of a search. Without
 * a route, `out` is 0 and `flow` is empty; `reason` says if a smaller amount has a route.
 */
function printRoute(one: LabCase, index: number, market: PoolMarket, repeat: number): void {
  const { pools, tokenIn, tokenOut, amountIn, swapCost, hopsMax } = one
  const nameOf = new Map(pools.flatMap(({ tokens }) => tokens).map((token) => [String(token), token]))
  const gasPrice = Number(swapCost) / UNISWAP_V2_GAS
  const options = {
    ...{ hopsMax: hopsMax ?? HOPS_MAX, swapsMax: Number.POSITIVE_INFINITY, gasPrice },
    isOver: () => false,
  }
  const request = { source: String(tokenIn), target: String(tokenOut), amountIn }
  const { route, micros } = timeSearch(() => bestRoute(market, request, options), repeat)
  const flow = (route?.swaps ?? []).map((swap) => ({
    pool: Number(swap.pool.id),
    tokenIn: nameOf.get(swap.pool.tokens[swap.tokenIn] ?? ''),
    tokenOut: nameOf.get(swap.pool.tokens[swap.tokenOut] ?? ''),
    amountIn: swap.amountIn,
    amountOut: swap.amountOut,
  }))
  const out = route?.amountOut ?? 0n
  const net = out - swapCost * BigInt(flow.length)
  const certified = route && { execution: route, values: route.values }
  const bound = boundOf(one, certify(market, request, gasPrice, certified).bound)
  const hasRoute = (amount: bigint) => bestRoute(market, { ...request, amountIn: amount }, options) !== null
  const reason = route === null ? exceedsReserves(amountIn, hasRoute) : {}
  print({ case: index, out, net, bound, micros, flow, ...reason })
}

/** No route pays more than what the pools hold of the target. That bounds markets in which prices prove nothing. */
function boundOf({ pools, tokenOut }: LabCase, certified: number): bigint {
  const reservesOf = ({ tokens, reserves }: LabPair) => reserves.filter((_, n) => tokens[n] === tokenOut)
  const held = pools.flatMap(reservesOf).reduce((sum, units) => sum + units, 0n)
  return Number.isFinite(certified) ? smallest(BigInt(Math.ceil(certified)), held) : held
}

function timeSearch(search: () => Route | null, repeat: number): { route: Route | null; micros: number } {
  let route: Route | null = null
  const times = Array.from({ length: repeat }, () => {
    const startedAt = performance.now()
    route = search()
    return performance.now() - startedAt
  })
  const median = times.sort((a, b) => a - b)[Math.floor((repeat - 1) / 2)] ?? 0
  return { route, micros: Math.round(median * 1e4) / 10 }
}

function exceedsReserves(amountIn: bigint, hasRoute: (amount: bigint) => boolean): Readonly<{ reason?: string }> {
  for (let smaller = amountIn >> SHRINK_BITS; smaller > 0n; smaller >>= SHRINK_BITS)
    if (hasRoute(smaller))
      return {
        reason: `${amountIn} exceeds what the pools can take (a reserve is at most ${RESERVE_MAX}); ${smaller} has a route`,
      }
  return {}
}
