import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Pool } from '../domain/swap/kinds.ts'
import { createPoolMarket } from '../domain/swap/pool-market.ts'
import { limitOf, type Tick, walk } from '../domain/swap/pools/concentrated.ts'
import { tickAtSqrtPrice } from '../domain/swap/pools/tick-math.ts'
import { bestRoute } from '../domain/swap/route.ts'
import { fail, print } from './print.ts'

/** An engineer's bench: our pool maths and our router over markets written down in a file. One JSON line a case. */
export function addLabCommands(program: Command): void {
  const lab = program.command('lab').description('pool maths and router over markets in a file')
  lab
    .command('pools <file>')
    .description('swaps of Uniswap V3 pools, as in vectors/univ3_bytecode_fuzz.json')
    .action((file: string) => readLab<PoolsFile>(file, 'pools').pools.forEach(printSwaps))
  lab
    .command('route <file>')
    .description('best routes through Uniswap V2 pools, as in vectors/routing_v2_optimality.json')
    .action((file: string) => readLab<RouteFile>(file, 'cases').cases.forEach(printRoute))
}

function readLab<T>(file: string, list: string): T {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    fail(`${file} is no JSON file: ${error instanceof Error ? error.message : error}`)
  }
  const lists = content as Record<string, unknown> | null
  if (typeof lists !== 'object' || lists === null || !Array.isArray(lists[list])) fail(`${file} has no list "${list}"`)
  return content as T
}

type PoolsFile = Readonly<{
  pools: readonly Readonly<{
    fee: number
    tickSpacing: number
    sqrtPriceX96: string
    tick?: number
    positions: readonly Readonly<{ tickLower: number; tickUpper: number; liquidity: string }>[]
    swaps: readonly Readonly<{ zeroForOne: boolean; amountSpecified: string; sqrtPriceLimitX96?: string | null }>[]
  }>[]
}>

function printSwaps(pool: PoolsFile['pools'][number], index: number): void {
  const sqrtPrice = BigInt(pool.sqrtPriceX96)
  const tick = pool.tick ?? tickAtSqrtPrice(sqrtPrice)
  const state = { sqrtPrice, tick, tickSpacing: pool.tickSpacing, ...liquidityOf(pool.positions, tick) }
  for (const [swap, { zeroForOne, amountSpecified, sqrtPriceLimitX96 }] of pool.swaps.entries()) {
    const limit = sqrtPriceLimitX96 ? BigInt(sqrtPriceLimitX96) : limitOf(zeroForOne)
    const moved = walk(state, zeroForOne, BigInt(amountSpecified), limit, BigInt(pool.fee))
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

/** What positions add up to: the ticks at which liquidity changes, and what is in range. */
function liquidityOf(
  positions: PoolsFile['pools'][number]['positions'],
  tick: number,
): { liquidity: bigint; ticks: readonly Tick[] } {
  const nets = new Map<number, bigint>()
  let inRange = 0n
  for (const { tickLower, tickUpper, liquidity } of positions) {
    const amount = BigInt(liquidity)
    nets.set(tickLower, (nets.get(tickLower) ?? 0n) + amount)
    nets.set(tickUpper, (nets.get(tickUpper) ?? 0n) - amount)
    if (tickLower <= tick && tick < tickUpper) inRange += amount
  }
  const ticks = [...nets].map(([index, net]) => ({ index, net })).sort((a, b) => a.index - b.index)
  return { liquidity: inRange, ticks }
}

type RouteFile = Readonly<{
  cases: readonly Readonly<{
    pools: readonly Readonly<{
      token0: number | string
      token1: number | string
      reserve0: string
      reserve1: string
      feePpm: number
    }>[]
    tokenIn: number | string
    tokenOut: number | string
    amountIn: string
  }>[]
}>

const HOPS_MAX = 4

/** `out` is null where no route leads from one token to the other. */
function printRoute({ pools, tokenIn, tokenOut, amountIn }: RouteFile['cases'][number], index: number): void {
  const states = pools.map(
    ({ token0, token1, reserve0, reserve1, feePpm }, id): Pool => ({
      kind: 'uniswap-v2',
      id: String(id),
      address: String(id),
      dex: 'lab',
      tokens: [String(token0), String(token1)],
      reserves: [BigInt(reserve0), BigInt(reserve1)],
      feePpm,
    }),
  )
  const given = new Map(
    [...pools.flatMap(({ token0, token1 }) => [token0, token1])].map((token) => [String(token), token]),
  )
  const request = { source: String(tokenIn), target: String(tokenOut), amountIn: BigInt(amountIn) }
  const options = { hopsMax: HOPS_MAX, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }
  const route = bestRoute(createPoolMarket(states), request, options)
  const flow = (route?.swaps ?? []).map((swap) => ({
    pool: Number(swap.pool.id),
    tokenIn: given.get(swap.pool.tokens[swap.tokenIn] ?? ''),
    tokenOut: given.get(swap.pool.tokens[swap.tokenOut] ?? ''),
    amountIn: swap.amountIn,
    amountOut: swap.amountOut,
  }))
  print({ case: index, out: route?.amountOut ?? null, flow })
}
