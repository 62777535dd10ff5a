import type { Curve } from './curve.ts'
import type { PoolMaths, Swapped } from './pool.ts'
import { type AlgebraPool, algebra } from './pools/algebra.ts'
import { type BalancerStablePool, balancerStable } from './pools/balancer-stable.ts'
import { type BalancerWeightedPool, balancerWeighted } from './pools/balancer-weighted.ts'
import { type CurveStablePool, curveStable } from './pools/curve-stable.ts'
import { type LiquidityBookPool, liquidityBook } from './pools/liquidity-book.ts'
import { type MeteoraDammV2RoutePool, meteoraDammV2 } from './pools/solana/meteora-damm-v2.ts'
import { type MeteoraDlmmRoutePool, meteoraDlmm } from './pools/solana/meteora-dlmm.ts'
import { type PumpSwapRoutePool, pumpSwap } from './pools/solana/pump-swap.ts'
import { type RaydiumAmmV4RoutePool, raydiumAmmV4 } from './pools/solana/raydium-amm-v4.ts'
import { type RaydiumClmmRoutePool, raydiumClmm } from './pools/solana/raydium-clmm.ts'
import { type RaydiumCpmmRoutePool, raydiumCpmm } from './pools/solana/raydium-cpmm.ts'
import { type SolidlyPool, solidly } from './pools/solidly.ts'
import { type CetusPool, cetus } from './pools/sui/cetus.ts'
import { type DeepbookPool, deepbook } from './pools/sui/deepbook.ts'
import { type TurbosPool, turbos } from './pools/sui/turbos.ts'
import { type UniswapV2Pool, uniswapV2 } from './pools/uniswap-v2.ts'
import { type UniswapV3Pool, uniswapV3 } from './pools/uniswap-v3.ts'
import { type UniswapV4Pool, uniswapV4 } from './pools/uniswap-v4.ts'

/** All supported pool kinds. To add one, add a file to `pools/` and a line here. */
export type Pool =
  | UniswapV2Pool
  | UniswapV3Pool
  | UniswapV4Pool
  | SolidlyPool
  | AlgebraPool
  | CurveStablePool
  | BalancerWeightedPool
  | BalancerStablePool
  | LiquidityBookPool
  | CetusPool
  | DeepbookPool
  | TurbosPool
  | RaydiumCpmmRoutePool
  | RaydiumClmmRoutePool
  | RaydiumAmmV4RoutePool
  | MeteoraDlmmRoutePool
  | MeteoraDammV2RoutePool
  | PumpSwapRoutePool
export type PoolKind = Pool['kind']

const mathsByKind: Readonly<{ [K in PoolKind]: PoolMaths<Extract<Pool, { kind: K }>> }> = {
  'uniswap-v2': uniswapV2,
  'uniswap-v3': uniswapV3,
  'uniswap-v4': uniswapV4,
  solidly,
  algebra,
  'curve-stable': curveStable,
  'balancer-weighted': balancerWeighted,
  'balancer-stable': balancerStable,
  'liquidity-book': liquidityBook,
  cetus,
  deepbook,
  turbos,
  'raydium-cpmm': raydiumCpmm,
  'raydium-clmm': raydiumClmm,
  'raydium-amm-v4': raydiumAmmV4,
  'meteora-dlmm': meteoraDlmm,
  'meteora-damm-v2': meteoraDammV2,
  'pump-swap': pumpSwap,
}

/** The maths of a pool's kind. The cast is sound because the table maps each kind to the maths of that kind's pool type. */
function mathsOf<P extends Pool>(pool: P): PoolMaths<P> {
  return mathsByKind[pool.kind] as unknown as PoolMaths<P>
}

/** Whether both are indexes of different tokens of the pool. */
const isTokenPair = ({ tokens }: Pool, tokenIn: number, tokenOut: number): boolean =>
  tokenIn !== tokenOut && tokens[tokenIn] !== undefined && tokens[tokenOut] !== undefined

/** Exact swap (`PoolMaths.swap`); null for an amount of zero or less, or for tokens that are not in the pool. */
export function swapExact(pool: Pool, tokenIn: number, tokenOut: number, amountIn: bigint): Swapped<Pool> | null {
  if (!isTokenPair(pool, tokenIn, tokenOut) || amountIn <= 0n) return null
  return mathsOf(pool).swap(pool, tokenIn, tokenOut, amountIn)
}

/** Output curve of one direction of a pool; null if it cannot trade. */
export function curveOf(pool: Pool, tokenIn: number, tokenOut: number): Curve | null {
  return isTokenPair(pool, tokenIn, tokenOut) ? mathsOf(pool).curve(pool, tokenIn, tokenOut) : null
}
