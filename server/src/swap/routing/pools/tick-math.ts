/* Square root prices of ticks in Q64.96, bit for bit as TickMath.sol of Uniswap V3, V4 and their forks. */
import { HALF_LOG_BASE } from '@swapyard/lib/tick-base.ts'

export const MIN_TICK = -887272
export const MAX_TICK = 887272
export const MIN_SQRT_PRICE = 4295128739n
export const MAX_SQRT_PRICE = 1461446703485210103287273052203988822378723970342n
export const Q96 = 1n << 96n

/** √1.0001^-(2^i) in Q128, from TickMath.sol. */
const FACTORS = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
]
const ONE = 1n << 128n
const UINT256_MAX = (1n << 256n) - 1n

/** Prices by tick; computing one takes a microsecond. Cleared when it reaches CACHED_PRICES_MAX. */
const cache = new Map<number, bigint>()
const CACHED_PRICES_MAX = 200_000

/** √1.0001^tick · 2^96, rounded up. */
export function sqrtPriceAtTick(tick: number): bigint {
  const cached = cache.get(tick)
  if (cached !== undefined) return cached
  let ratio = ONE
  const steps = Math.abs(tick)
  for (const [bit, factor] of FACTORS.entries()) if ((steps & (1 << bit)) !== 0) ratio = (ratio * factor) >> 128n
  if (tick > 0) ratio = UINT256_MAX / ratio
  const price = (ratio >> 32n) + ((ratio & 0xffffffffn) === 0n ? 0n : 1n)
  if (cache.size >= CACHED_PRICES_MAX) cache.clear()
  cache.set(tick, price)
  return price
}

/** √1.0001^tick, with a relative error below 10^-14. A power of 1.0001 would multiply the rounding error of the base by the tick. */
export const approximateRoot = (tick: number): number => Math.exp(tick * HALF_LOG_BASE)

/** The greatest tick whose price is at most `sqrtPrice`. */
export function tickAtSqrtPrice(sqrtPrice: bigint): number {
  // The float64 logarithm is off by at most one tick; exact prices correct it.
  const guess = Math.floor((logarithm(sqrtPrice) - 96 * Math.LN2) / HALF_LOG_BASE)
  let tick = Math.min(MAX_TICK, Math.max(MIN_TICK, guess))
  while (tick > MIN_TICK && sqrtPriceAtTick(tick) > sqrtPrice) tick -= 1
  while (tick < MAX_TICK && sqrtPriceAtTick(tick + 1) <= sqrtPrice) tick += 1
  return tick
}

function logarithm(value: bigint): number {
  const bits = value.toString(2).length
  const shift = Math.max(0, bits - 64)
  return Math.log(Number(value >> BigInt(shift))) + shift * Math.LN2
}
