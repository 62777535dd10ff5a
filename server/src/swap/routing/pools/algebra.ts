import type { PoolIdentity, PoolMaths } from '../pool.ts'
import { type Concentrated, concentratedCurve, swapConcentrated } from './concentrated.ts'

/**
 * Algebra: concentrated liquidity with a fee that the contract changes. The fee is part of the state and must be the value in the block of
 * the swap: v1 updates it with the first swap of a block, and Integral's plugins may change it before each swap.
 */
export type AlgebraPool = PoolIdentity &
  Concentrated &
  Readonly<{
    kind: 'algebra'
    /**
     * How the contract finds the next tick. `words`: v1 to v1.9, a bitmap in words of 256 tick spacings, like Uniswap V3.
     * `list`: v2 and Integral, a linked list of the initialized ticks, without intermediate steps.
     */
    ticksBy: 'words' | 'list'
    /** Fee in millionths of the input, by direction: token 0 in, token 1 in. The same for both before v1.9-directional. */
    feePpm: readonly [number, number]
  }>

/** Gas of a swap within one tick through our executor contract. */
const GAS = 130_000

const feeOf = ({ feePpm }: AlgebraPool, tokenIn: number): number => feePpm[tokenIn === 0 ? 0 : 1]

export const algebra: PoolMaths<AlgebraPool> = {
  /** AlgebraPool._calculateSwap with PriceMovementMath.movePriceTowardsTarget: the same steps and roundings as Uniswap V3. */
  swap: (state, tokenIn, _tokenOut, amountIn) =>
    swapConcentrated(state, tokenIn, amountIn, feeOf(state, tokenIn), state.ticksBy === 'words'),
  curve: (state, tokenIn) => concentratedCurve(state, tokenIn === 0, feeOf(state, tokenIn), GAS),
}
