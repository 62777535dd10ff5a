import type { PoolIdentity, PoolMaths } from '../pool.ts'
import { type Concentrated, concentratedCurve, limitOf, swapThroughTicks } from './concentrated.ts'

/** Uniswap V3 and the forks with the same arithmetic. */
export type UniswapV3Pool = PoolIdentity &
  Concentrated &
  Readonly<{
    kind: 'uniswap-v3'
    /** Fee in millionths of the input. */
    feePpm: number
  }>

/** Gas of a swap within one tick through our executor contract. */
const GAS = 96_000

function swap(state: UniswapV3Pool, tokenIn: number, _tokenOut: number, amountIn: bigint) {
  if (amountIn <= 0n) return null
  const zeroForOne = tokenIn === 0
  const result = swapThroughTicks(state, zeroForOne, amountIn, limitOf(zeroForOne), BigInt(state.feePpm))
  const [input, output] = zeroForOne ? [result.amount0, -result.amount1] : [result.amount1, -result.amount0]
  if (input !== amountIn || output <= 0n) return null
  return {
    amountOut: output,
    next: { ...state, sqrtPrice: result.sqrtPrice, tick: result.tick, liquidity: result.liquidity },
  }
}

export const uniswapV3: PoolMaths<UniswapV3Pool> = {
  swap,
  curve: (state, tokenIn) => concentratedCurve(state, tokenIn === 0, state.feePpm, GAS),
}
