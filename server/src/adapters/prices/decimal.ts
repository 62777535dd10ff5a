import { powerOfTen, type Rounding, scale } from '../../core/domain/amount.ts'
import { USD_DECIMALS } from '../../core/domain/price.ts'

const DECIMAL = /^(0|[1-9][0-9]{0,14})(?:\.([0-9]{1,40}))?(?:[eE]([+-]?[0-9]{1,2}))?$/

/**
 * Decimal text, with an exponent or without, × 10^12. Null if the text is malformed, negative or above 10^15. The text is
 * never read as a float.
 */
export function readDecimal(text: unknown, rounding: Rounding): bigint | null {
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null
  if (match === null) return null
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  const shift = USD_DECIMALS - fraction.length + Number.parseInt(exponent, 10)
  const scaled = shift >= 0 ? digits * powerOfTen(shift) : scale(digits, 1n, powerOfTen(-shift), rounding)
  return scaled <= powerOfTen(15 + USD_DECIMALS) ? scaled : null
}

const DECIMAL_USD = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,12}))?$/

/** Decimal US dollars × 10^12; null if the text is malformed or has more than 12 decimals. */
export const readDecimalUsd = (text: unknown): bigint | null =>
  typeof text === 'string' && DECIMAL_USD.test(text) ? readDecimal(text, 'down') : null

/** JSON whose numbers are their source text, so that no digit is lost. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? (context?.source ?? null) : value,
  )
}
