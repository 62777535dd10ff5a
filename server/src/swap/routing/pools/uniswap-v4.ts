import type { PoolIdentity, PoolMaths } from '../pool.ts'
import { type Concentrated, concentratedCurve, swapConcentrated } from './concentrated.ts'

/**
 * Uniswap V4 without hooks. If the pool holds the native coin, `native` is true, and `tokens` has the wrapped token's address first, because
 * the pool manager sorts the native coin (address zero) first.
 */
export type UniswapV4Pool = PoolIdentity &
  Concentrated &
  Readonly<{
    kind: 'uniswap-v4'
    /** Liquidity providers' fee in millionths of the input. */
    lpFeePpm: number
    /** Protocol fee in millionths by direction: token 0 in, token 1 in (lower and upper 12 bits of slot0.protocolFee). */
    protocolFeePpm: readonly [number, number]
  }>

const PPM = 1_000_000
/** Largest balance delta (int128). */
const INT128_MAX = (1n << 127n) - 1n
/** Gas of a swap within one tick through our executor contract. */
const GAS = 105_000

/** ProtocolFeeLibrary.calculateSwapFee: the liquidity providers' fee applies to the input less the protocol fee; rounds up. */
function feeOf({ lpFeePpm, protocolFeePpm }: UniswapV4Pool, tokenIn: number): number {
  const protocol = protocolFeePpm[tokenIn === 0 ? 0 : 1]
  return protocol + lpFeePpm - Math.floor((protocol * lpFeePpm) / PPM)
}

/**
 * Pool.swap of v4-core. Its SwapMath divides the last step differently into input and fee than V3, which changes neither the output nor the
 * final price. Ticks are in a bitmap of words, as in V3.
 */
function swap(state: UniswapV4Pool, tokenIn: number, _tokenOut: number, amountIn: bigint) {
  const fee = feeOf(state, tokenIn)
  if (amountIn > INT128_MAX || fee >= PPM) return null
  const swapped = swapConcentrated(state, tokenIn, amountIn, fee)
  return swapped === null || swapped.amountOut > INT128_MAX ? null : swapped
}

export const uniswapV4: PoolMaths<UniswapV4Pool> = {
  swap,
  curve(state, tokenIn) {
    const fee = feeOf(state, tokenIn)
    return fee >= PPM ? null : concentratedCurve(state, tokenIn === 0, fee, GAS)
  },
}
