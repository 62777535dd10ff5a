import type { PoolIdentity, PoolMaths } from '../pool.ts'
import { type Concentrated, concentratedCurve, limitOf, swapThroughTicks } from './concentrated.ts'

/**
 * Uniswap V4 without hooks. The native coin is `native` with the wrapped coin's address in `tokens`: the manager sorts it first,
 * as address zero, and so do `tokens` here.
 */
export type UniswapV4Pool = PoolIdentity &
  Concentrated &
  Readonly<{
    kind: 'uniswap-v4'
    /** Fee of the liquidity providers in millionths. */
    lpFeePpm: number
    /** The protocol's fee in millionths, by direction: of token 0 in, of token 1 in (slot0.protocolFee's lower and upper 12 bits). */
    protocolFeePpm: readonly [number, number]
  }>

const PPM = 1_000_000
/** Balance deltas are int128. */
const INT128_MAX = (1n << 127n) - 1n
/** Gas of a swap within one tick through our executor. */
const GAS = 105_000

/** ProtocolFeeLibrary.calculateSwapFee: the liquidity providers' share is taken of what the protocol leaves; rounded up. */
function feeOf({ lpFeePpm, protocolFeePpm }: UniswapV4Pool, tokenIn: number): number {
  const protocol = protocolFeePpm[tokenIn === 0 ? 0 : 1]
  return protocol + lpFeePpm - Math.floor((protocol * lpFeePpm) / PPM)
}

/**
 * Pool.swap of v4-core. SwapMath differs from V3's in how a last step is divided into input and fee, which changes neither what is
 * paid nor where the price ends; ticks are walked by words as in V3.
 */
function swap(state: UniswapV4Pool, tokenIn: number, _tokenOut: number, amountIn: bigint) {
  const fee = feeOf(state, tokenIn)
  if (amountIn <= 0n || amountIn > INT128_MAX || fee >= PPM) return null
  const zeroForOne = tokenIn === 0
  const result = swapThroughTicks(state, zeroForOne, amountIn, limitOf(zeroForOne), BigInt(fee))
  const [input, output] = zeroForOne ? [result.amount0, -result.amount1] : [result.amount1, -result.amount0]
  if (input !== amountIn || output <= 0n || output > INT128_MAX) return null
  return {
    amountOut: output,
    next: { ...state, sqrtPrice: result.sqrtPrice, tick: result.tick, liquidity: result.liquidity },
  }
}

export const uniswapV4: PoolMaths<UniswapV4Pool> = {
  swap,
  curve(state, tokenIn) {
    const fee = feeOf(state, tokenIn)
    return fee >= PPM ? null : concentratedCurve(state, tokenIn === 0, fee, GAS)
  },
}
