import { createCurve } from '../curve.ts'
import type { PoolIdentity, PoolMaths } from '../pool.ts'

/** Constant product x·y = k with a fee on the input: Uniswap V2 and its forks. */
export type UniswapV2Pool = PoolIdentity &
  Readonly<{
    kind: 'uniswap-v2'
    reserves: readonly [bigint, bigint]
    /** Fee in millionths of the input. */
    feePpm: number
  }>

export const PPM = 1_000_000n
/** Reserves are uint112; a swap that exceeds this reverts. */
export const RESERVE_MAX = (1n << 112n) - 1n
/** Gas of one swap through our executor contract, measured on the sandbox's contracts. */
export const GAS = 62_000

/**
 * UniswapV2Library.getAmountOut. The result does not depend on whether a fork counts its fee in thousandths, ten-thousandths or
 * millionths.
 */
function swap(state: UniswapV2Pool, tokenIn: number, tokenOut: number, amountIn: bigint) {
  const reserveIn = state.reserves[tokenIn]
  const reserveOut = state.reserves[tokenOut]
  if (reserveIn === undefined || reserveOut === undefined || tokenIn === tokenOut || amountIn <= 0n) return null
  const netInput = amountIn * (PPM - BigInt(state.feePpm))
  const amountOut = (netInput * reserveOut) / (reserveIn * PPM + netInput)
  if (amountOut === 0n || reserveIn + amountIn > RESERVE_MAX) return null
  const reserves =
    tokenIn === 0
      ? ([reserveIn + amountIn, reserveOut - amountOut] as const)
      : ([reserveOut - amountOut, reserveIn + amountIn] as const)
  return { amountOut, next: { ...state, reserves } }
}

function curve({ reserves, feePpm }: UniswapV2Pool, tokenIn: number, tokenOut: number) {
  const reserveIn = reserves[tokenIn]
  const reserveOut = reserves[tokenOut]
  if (reserveIn === undefined || reserveOut === undefined || reserveIn === 0n || reserveOut === 0n) return null
  const hyperbola = { reserveIn: Number(reserveIn), reserveOut: Number(reserveOut), capacity: Number.POSITIVE_INFINITY }
  return createCurve([hyperbola], 1 - feePpm / 1e6, GAS)
}

export const uniswapV2: PoolMaths<UniswapV2Pool> = { swap, curve }
