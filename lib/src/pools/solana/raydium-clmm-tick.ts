/* Square root prices of ticks in Q64.64, bit for bit as Raydium CLMM (main net before May 2026). */
import { U128_MAX } from '../../bigint.ts'

export const CLMM_TICK_MAX = 443_636
export const CLMM_SQRT_PRICE_MIN = 4_295_048_016n
export const CLMM_SQRT_PRICE_MAX = 79_226_673_521_066_979_257_578_248_091n

/** √1.0001^-(2^i) in Q64, from the program. */
const FACTORS = [
  0xfffcb933bd6fb800n,
  0xfff97272373d4000n,
  0xfff2e50f5f657000n,
  0xffe5caca7e10f000n,
  0xffcb9843d60f7000n,
  0xff973b41fa98e800n,
  0xff2ea16466c9b000n,
  0xfe5dee046a9a3800n,
  0xfcbe86c7900bb000n,
  0xf987a7253ac65800n,
  0xf3392b0822bb6000n,
  0xe7159475a2caf000n,
  0xd097f3bdfd2f2000n,
  0xa9f746462d9f8000n,
  0x70d869a156f31c00n,
  0x31be135f97ed3200n,
  0x9aa508b5b85a500n,
  0x5d6af8dedc582cn,
  0x2216e584f5fan,
]

/** √1.0001^tick · 2^64. Each product and the inverse of a positive tick are rounded down. */
export function clmmSqrtPriceAtTick(tick: number): bigint {
  const steps = Math.abs(tick)
  if (steps > CLMM_TICK_MAX) throw new RangeError(`tick ${tick} is beyond ${CLMM_TICK_MAX}`)
  let ratio = 1n << 64n
  for (const [bit, factor] of FACTORS.entries()) if ((steps & (1 << bit)) !== 0) ratio = (ratio * factor) >> 64n
  return tick > 0 ? U128_MAX / ratio : ratio
}

/** The greatest tick whose price is at most `sqrtPrice` (Q64.64). */
export function clmmTickAtSqrtPrice(sqrtPrice: bigint): number {
  let low = -CLMM_TICK_MAX
  let high = CLMM_TICK_MAX
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (clmmSqrtPriceAtTick(middle) <= sqrtPrice) low = middle
    else high = middle - 1
  }
  return low
}
