/* What DLMM and DAMM v2 of Meteora compute in the same way. */
import { divideUp } from '../../bigint.ts'

/** Fee rates are parts of 10^9. */
export const FEE_PRECISION = 1_000_000_000n
/** Of the fee that follows the price's volatility. */
const VARIABLE_FEE_DENOMINATOR = 100_000_000_000n
const ONE = 1n << 64n

/** The units that leave `net` after the fee, rounded up. */
export const addFee = (net: bigint, feeRate: bigint): bigint => divideUp(net * FEE_PRECISION, FEE_PRECISION - feeRate)

/** The fee rate for a volatility accumulator, rounded up. */
export const variableFeeRate = (accumulator: bigint, binStep: bigint, control: bigint): bigint =>
  divideUp(control * (accumulator * binStep) ** 2n, VARIABLE_FEE_DENOMINATOR)

/** A power in Q64.64, each product rounded down. */
export function powerOf(base: bigint, exponent: bigint): bigint {
  let power = ONE
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) power = (power * square) >> 64n
    square = (square * square) >> 64n
  }
  return power
}
