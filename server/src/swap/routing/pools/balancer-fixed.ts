import { power } from './log-exp.ts'

/* FixedPoint.sol of Balancer V2 and V3: 18 decimals, every operation names which way it rounds. */

export const ONE = 10n ** 18n

export const mulDown = (a: bigint, b: bigint): bigint => (a * b) / ONE
export const mulUp = (a: bigint, b: bigint): bigint => divideUp(a * b, ONE)
export const divDown = (a: bigint, b: bigint): bigint => (a * ONE) / b
export const divUp = (a: bigint, b: bigint): bigint => divideUp(a * ONE, b)
/** Math.divUp, FixedPoint.divUpRaw. */
export const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
export const complement = (a: bigint): bigint => (a < ONE ? ONE - a : 0n)

/** LogExpMath promises its result within this, in parts of 10^18 of it. */
const POWER_ERROR = 10_000n

/**
 * powUp: never less than x^y. With `shortcuts` the exponents 1, 2 and 4 are multiplied out, as since Balancer's V2 pools of 2022
 * and in V3; without, the logarithm is taken always. Null where the contract reverts.
 */
export function powUp(x: bigint, y: bigint, shortcuts: boolean): bigint | null {
  if (shortcuts && y === ONE) return x
  if (shortcuts && y === 2n * ONE) return mulUp(x, x)
  if (shortcuts && y === 4n * ONE) return mulUp(mulUp(x, x), mulUp(x, x))
  const raw = power(x, y)
  return raw === null ? null : raw + mulUp(raw, POWER_ERROR) + 1n
}

/** How the amounts of a token become 18 decimals: 10^(18 − decimals), and its rate (10^18 = 1). */
export type Scale = Readonly<{ factor: bigint; rate: bigint }>

/** V2's _upscale, V3's toScaled18ApplyRateRoundDown. */
export const upscale = (amount: bigint, { factor, rate }: Scale): bigint => mulDown(amount, factor * rate)

/** V2's _downscaleDown; V3's toRawUndoRateRoundDown of what is paid, where the vault takes a rate that is not whole one higher. */
export function downscale(amount: bigint, { factor, rate }: Scale, vault: 'v2' | 'v3'): bigint {
  const divisor = vault === 'v3' && rate % ONE !== 0n ? rate + 1n : rate
  return divDown(amount, factor * divisor)
}

/** V3: what of the swap fee leaves the pool for the protocol and the pool's creator (_computeAndChargeAggregateSwapFees). */
export function aggregateFee(feeScaled: bigint, { factor, rate }: Scale, share: bigint): bigint {
  return mulDown(divDown(feeScaled, factor * rate), share)
}

/** V2's vault keeps a balance in 112 bits. */
export const V2_BALANCE_MAX = (1n << 112n) - 1n

/** V3's vault refuses smaller trades, in 18 decimals (getMinimumTradeAmount on every network). */
export const V3_TRADE_MIN = 1_000_000n

/** The input without the swap fee, in 18 decimals: V2 takes the fee of the raw amount, V3 of the scaled one. */
export function inputAfterFee(
  amountIn: bigint,
  scale: Scale,
  swapFee: bigint,
  vault: 'v2' | 'v3',
): { netInput: bigint; fee: bigint } {
  if (vault === 'v2') return { netInput: upscale(amountIn - mulUp(amountIn, swapFee), scale), fee: 0n }
  const scaledInput = upscale(amountIn, scale)
  const fee = mulUp(scaledInput, swapFee)
  return { netInput: scaledInput - fee, fee }
}
