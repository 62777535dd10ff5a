import { assert } from '../../lib/assert.ts'
import type { Asset } from './asset.ts'
import { AppError } from './errors.ts'

export type Rounding = 'down' | 'up'

const DECIMAL = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/
/** Longer than any amount that `numeric(78,0)` holds. Longer texts are rejected before they reach BigInt. */
const LENGTH_MAX = 80

/** Decimal text → units. Parsing never rounds: more decimals than the asset has are rejected. Trailing zeros do not count. */
export function parseUnits(text: string, asset: Asset, field = 'amount'): bigint {
  const match = text.length <= LENGTH_MAX ? DECIMAL.exec(text) : null
  if (!match) throw new AppError('AMOUNT_MALFORMED', `${field} must be a plain decimal amount, such as 0.01`, { field })
  const [, whole = '0', decimals = ''] = match
  const fraction = withoutTrailingZeros(decimals)
  if (fraction.length > asset.decimals) {
    const limit = `${asset.ticker.toUpperCase()} has ${asset.decimals}`
    throw new AppError('AMOUNT_PRECISION', `${field} has ${fraction.length} decimals; ${limit}`, { field })
  }
  return BigInt(whole + fraction.padEnd(asset.decimals, '0'))
}

const ZERO = 0x30

function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === ZERO) end -= 1
  return digits.slice(0, end)
}

/** Units → plain decimal text: no exponent, no trailing zeros. */
export function formatUnits(units: bigint, decimals: number): string {
  assert(units >= 0n, 'a formatted amount is not negative')
  const digits = units.toString()
  if (decimals === 0 || units === 0n) return digits
  // Digits before the point; negative: leading zeros after it. A loop, not a regular expression: each response has ten amounts.
  const point = digits.length - decimals
  let end = digits.length
  while (end > point && end > 0 && digits.charCodeAt(end - 1) === ZERO) end -= 1
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits.slice(0, end)}`
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
}

/** `units × numerator ÷ denominator`. `rounding` decides who gets the remainder. */
export function scale(units: bigint, numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  assert(denominator > 0n, 'a denominator is positive')
  const product = units * numerator
  const quotient = product / denominator
  return rounding === 'up' && quotient * denominator !== product ? quotient + 1n : quotient
}

const powers = Array.from({ length: 128 }, (_, exponent) => 10n ** BigInt(exponent))

/** 10^exponent, from a table: computing `**` costs more than the division that uses it. */
export function powerOfTen(exponent: number): bigint {
  return powers[exponent] ?? 10n ** BigInt(exponent)
}

/** Rounds to at most `significantDigits`. With 15, the amount is exact as a JSON number (IEEE 754 double). */
export function toSignificant(units: bigint, rounding: Rounding, significantDigits = 15): bigint {
  if (units < powerOfTen(significantDigits)) return units
  // Counts digits by comparison: cheaper than converting the number to text.
  let digits = significantDigits + 1
  while (units >= powerOfTen(digits)) digits += 1
  const step = powerOfTen(digits - significantDigits)
  const rest = units % step
  return rest === 0n || rounding === 'down' ? units - rest : units - rest + step
}

export const BPS = 10_000n

export const sumUnits = (parts: readonly Readonly<{ units: bigint }>[]): bigint =>
  parts.reduce((total, { units }) => total + units, 0n)
