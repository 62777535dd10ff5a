/* Square root prices of ticks in Q64.64, bit for bit as Cetus and Turbos compute them. */
import { HALF_LOG_BASE } from '../../tick-base.ts'
import { abortUnless } from './move-abort.ts'

export const TICK_MAX = 443_636
/** Prices of the outermost ticks. */
export const SQRT_PRICE_MIN = 4_295_048_016n
export const SQRT_PRICE_MAX = 79_226_673_515_401_279_992_447_579_055n

const MODULE = 'tick_math'
const INVALID_TICK = 1
const INVALID_SQRT_PRICE = 2

/** √1.0001^(2^i) · 2^96, rounded down. */
const RISING = [
  79232123823359799118286999567n,
  79236085330515764027303304731n,
  79244008939048815603706035061n,
  79259858533276714757314932305n,
  79291567232598584799939703904n,
  79355022692464371645785046466n,
  79482085999252804386437311141n,
  79736823300114093921829183326n,
  80248749790819932309965073892n,
  81282483887344747381513967011n,
  83390072131320151908154831281n,
  87770609709833776024991924138n,
  97234110755111693312479820773n,
  119332217159966728226237229890n,
  179736315981702064433883588727n,
  407748233172238350107850275304n,
  2098478828474011932436660412517n,
  55581415166113811149459800483533n,
  38992368544603139932233054999993551n,
]

/** √1.0001^-(2^i) · 2^64, rounded down. */
const FALLING = [
  0xfffcb933bd6fad37n,
  0xfff97272373d4132n,
  0xfff2e50f5f656932n,
  0xffe5caca7e10e4e6n,
  0xffcb9843d60f6159n,
  0xff973b41fa98c081n,
  0xff2ea16466c96a38n,
  0xfe5dee046a99a2a8n,
  0xfcbe86c7900a88aen,
  0xf987a7253ac41317n,
  0xf3392b0822b70005n,
  0xe7159475a2c29b74n,
  0xd097f3bdfd2022b8n,
  0xa9f746462d870fdfn,
  0x70d869a156d2a1b8n,
  0x31be135f97d08fd9n,
  0x9aa508b5b7a84e1n,
  0x5d6af8dedb8119n,
  0x2216e584f5fan,
]

/** √1.0001^tick · 2^64. Each product is rounded down; only a positive tick is computed with 96 bits. */
export function sqrtPriceAtTick(tick: number): bigint {
  const steps = Math.abs(tick)
  abortUnless(steps <= TICK_MAX, MODULE, INVALID_TICK)
  const [factors, bits] = tick > 0 ? [RISING, 96n] : [FALLING, 64n]
  let ratio = 1n << bits
  for (const [bit, factor] of factors.entries()) if ((steps & (1 << bit)) !== 0) ratio = (ratio * factor) >> bits
  return ratio >> (bits - 64n)
}

const LOG_Q64 = 64 * Math.LN2

/** The greatest tick whose price is at most `sqrtPrice` (Q64.64). */
export function tickAtSqrtPrice(sqrtPrice: bigint): number {
  abortUnless(sqrtPrice >= SQRT_PRICE_MIN && sqrtPrice <= SQRT_PRICE_MAX, MODULE, INVALID_SQRT_PRICE)
  // The error of the estimate is below one tick; the exact prices decide.
  const estimate = Math.floor((Math.log(Number(sqrtPrice)) - LOG_Q64) / HALF_LOG_BASE)
  let tick = Math.max(-TICK_MAX, Math.min(TICK_MAX, estimate))
  while (tick < TICK_MAX && sqrtPriceAtTick(tick + 1) <= sqrtPrice) tick += 1
  while (tick > -TICK_MAX && sqrtPriceAtTick(tick) > sqrtPrice) tick -= 1
  return tick
}
