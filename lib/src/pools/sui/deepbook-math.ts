/* Arithmetic of DeepBook v3: prices, rates and DEEP per asset are scaled by 10^9. */

import { divideUp, squareRoot, U64_MAX } from '../../bigint.ts'
import { abortUnless } from './move-abort.ts'

export const DEEPBOOK_SCALE = 1_000_000_000n

const MODULE = 'math'
const INVALID_PRECISION = 0

/** x · y, rounded down. */
export const multiply = (x: bigint, y: bigint): bigint => checkU64((x * y) / DEEPBOOK_SCALE)

/** x · y, rounded up. */
export const multiplyUp = (x: bigint, y: bigint): bigint => checkU64(divideUp(x * y, DEEPBOOK_SCALE))

/** x ÷ y, rounded down. */
export function divide(x: bigint, y: bigint): bigint {
  abortUnless(y !== 0n, MODULE, 'arithmetic')
  return checkU64((x * DEEPBOOK_SCALE) / y)
}

/** x ÷ y, rounded up. */
export function divideRoundedUp(x: bigint, y: bigint): bigint {
  abortUnless(y !== 0n, MODULE, 'arithmetic')
  return checkU64(divideUp(x * DEEPBOOK_SCALE, y))
}

/** √x of a number that is scaled by `precision`, rounded down. */
export function scaledRoot(x: bigint, precision: bigint): bigint {
  abortUnless(precision <= DEEPBOOK_SCALE, MODULE, INVALID_PRECISION)
  abortUnless(precision > 0n, MODULE, 'arithmetic')
  const multiplier = DEEPBOOK_SCALE / precision
  return squareRoot(x * multiplier * DEEPBOOK_SCALE) / multiplier
}

/** Base, quote and DEEP in base units. */
export type DeepbookBalances = readonly [base: bigint, quote: bigint, deep: bigint]

export const NO_BALANCES: DeepbookBalances = [0n, 0n, 0n]

export function addBalances(...all: readonly DeepbookBalances[]): DeepbookBalances {
  const sum = (index: 0 | 1 | 2) => all.reduce((total, balances) => total + balances[index], 0n)
  return [checkSum(sum(0)), checkSum(sum(1)), checkSum(sum(2))]
}

/** Each balance times a rate, rounded down. */
export const scaleBalances = ([base, quote, deep]: DeepbookBalances, rate: bigint): DeepbookBalances => [
  ...([multiply(base, rate), multiply(quote, rate), multiply(deep, rate)] as const),
]

/** The first balance that is not 0: a fee is in one of the three. */
export const nonZeroBalance = ([base, quote, deep]: DeepbookBalances): bigint => base || quote || deep

function checkU64(value: bigint): bigint {
  abortUnless(value <= U64_MAX, MODULE, 'arithmetic')
  return value
}

function checkSum(value: bigint): bigint {
  abortUnless(value <= U64_MAX, 'balances', 'arithmetic')
  return value
}
