import { divideUp } from '../../../lib/bigint.ts'
import { power } from './log-exp.ts'

/* FixedPoint.sol of Balancer V2 and V3: fixed-point numbers with 18 decimals. The name of each operation states its rounding. */

export const ONE = 10n ** 18n

export const mulDown = (a: bigint, b: bigint): bigint => (a * b) / ONE
export const mulUp = (a: bigint, b: bigint): bigint => divideUp(a * b, ONE)
export const divDown = (a: bigint, b: bigint): bigint => (a * ONE) / b
export const divUp = (a: bigint, b: bigint): bigint => divideUp(a * ONE, b)
export const complement = (a: bigint): bigint => (a < ONE ? ONE - a : 0n)

/** Largest relative error of LogExpMath.pow, in parts of 10^18 (FixedPoint.MAX_POW_RELATIVE_ERROR). */
const POWER_ERROR = 10_000n

/**
 * powUp: an upper bound of x^y. With `shortcuts` the exponents 1, 2 and 4 are computed by multiplication, as in V3 and in V2 pools since
 * 2022; without, always by logarithm. Null if the contract reverts.
 */
export function powUp(x: bigint, y: bigint, shortcuts: boolean): bigint | null {
  if (shortcuts && y === ONE) return x
  if (shortcuts && y === 2n * ONE) return mulUp(x, x)
  if (shortcuts && y === 4n * ONE) return mulUp(mulUp(x, x), mulUp(x, x))
  const raw = power(x, y)
  return raw === null ? null : raw + mulUp(raw, POWER_ERROR) + 1n
}

/** Conversion of a token's base units to 18 decimals: `factor` is 10^(18 − decimals), `rate` its exchange rate (10^18 = 1). */
export type Scale = Readonly<{ factor: bigint; rate: bigint }>

/** V2's _upscale, V3's toScaled18ApplyRateRoundDown. */
export const upscale = (amount: bigint, { factor, rate }: Scale): bigint => mulDown(amount, factor * rate)

/**
 * V2's _downscaleDown; V3's toRawUndoRateRoundDown of an output, for which the vault increases a rate that is not an integer by one unit.
 */
export function downscale(amount: bigint, { factor, rate }: Scale, vault: 'v2' | 'v3'): bigint {
  const divisor = vault === 'v3' && rate % ONE !== 0n ? rate + 1n : rate
  return divDown(amount, factor * divisor)
}

/** V3: part of the swap fee that leaves the pool for the protocol and the pool's creator (_computeAndChargeAggregateSwapFees). */
export function aggregateFee(feeScaled: bigint, { factor, rate }: Scale, share: bigint): bigint {
  return mulDown(divDown(feeScaled, factor * rate), share)
}

/** The V2 vault stores a balance in 112 bits. */
export const V2_BALANCE_MAX = (1n << 112n) - 1n

/** The V3 vault rejects smaller trades, in 18 decimals (getMinimumTradeAmount; the same on every network). */
export const V3_TRADE_MIN = 1_000_000n

/** The input net of the swap fee, and the fee, in 18 decimals. V2 computes the fee on the raw amount, V3 on the scaled amount. */
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
