import type { PoolIdentity, PoolMaths } from '../pool.ts'
import { type Concentrated, concentratedCurve, swapConcentrated } from './concentrated.ts'

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

export const uniswapV3: PoolMaths<UniswapV3Pool> = {
  swap: (state, tokenIn, _tokenOut, amountIn) => swapConcentrated(state, tokenIn, amountIn, state.feePpm),
  curve: (state, tokenIn) => concentratedCurve(state, tokenIn === 0, state.feePpm, GAS),
}
