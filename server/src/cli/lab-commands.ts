import type { Command } from 'commander'
import type { Pool } from '../swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../swap/routing/pool-market.ts'
import { limitOf, swapThroughTicks } from '../swap/routing/pools/concentrated.ts'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE } from '../swap/routing/pools/tick-math.ts'
import { RESERVE_MAX } from '../swap/routing/pools/uniswap-v2.ts'
import { bestRoute } from '../swap/routing/route.ts'
import { HOPS_MAX } from '../swap/routing/search.ts'
import { type LabCase, type LabPool, readLabCases, readLabPools } from './lab-file.ts'
import { print } from './print.ts'

/** For developers: runs the pool maths and the router on markets from a file. Prints one JSON line per case. */
export function addLabCommands(program: Command): void {
  const lab = program.command('lab').description('runs the pool maths and the router on markets from a file')
  lab
    .command('pools <file>')
    .description('computes swaps of Uniswap V3 pools; the format is that of vectors/univ3_bytecode_fuzz.json')
    .action((file: string) => readLabPools(file).forEach(printSwaps))
  lab
    .command('route <file>')
    .description(
      'finds the best routes through Uniswap V2 pools; the format is that of vectors/routing_v2_optimality.json',
    )
    .action((file: string) => readLabCases(file).forEach(printRoute))
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

/** Without a route, `out` is 0 and `flow` is empty; `reason` says if a smaller amount has a route. */
function printRoute({ pools, tokenIn, tokenOut, amountIn }: LabCase, index: number): void {
  const states = pools.map(({ tokens: [token0, token1], reserves, feePpm }, id): Pool => {
    const tokens = [String(token0), String(token1)] as const
    return { kind: 'uniswap-v2', id: String(id), address: String(id), dex: 'lab', tokens, reserves, feePpm }
  })
  const nameOf = new Map(pools.flatMap(({ tokens }) => tokens).map((token) => [String(token), token]))
  const market = createPoolMarket(states)
  const options = { hopsMax: HOPS_MAX, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }
  const routeOf = (amount: bigint) =>
    bestRoute(market, { source: String(tokenIn), target: String(tokenOut), amountIn: amount }, options)
  const route = routeOf(amountIn)
  const flow = (route?.swaps ?? []).map((swap) => ({
    pool: Number(swap.pool.id),
    tokenIn: nameOf.get(swap.pool.tokens[swap.tokenIn] ?? ''),
    tokenOut: nameOf.get(swap.pool.tokens[swap.tokenOut] ?? ''),
    amountIn: swap.amountIn,
    amountOut: swap.amountOut,
  }))
  const reason = route === null ? exceedsReserves(amountIn, (amount) => routeOf(amount) !== null) : {}
  print({ case: index, out: route?.amountOut ?? 0n, flow, ...reason })
}

function exceedsReserves(amountIn: bigint, hasRoute: (amount: bigint) => boolean): Readonly<{ reason?: string }> {
  for (let smaller = amountIn >> SHRINK_BITS; smaller > 0n; smaller >>= SHRINK_BITS)
    if (hasRoute(smaller))
      return {
        reason: `${amountIn} exceeds what the pools can take (a reserve is at most ${RESERVE_MAX}); ${smaller} has a route`,
      }
  return {}
}
