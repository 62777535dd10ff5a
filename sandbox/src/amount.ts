import { ControlError } from './control-error.ts'

/** `"1.5"` and 8 decimals → 150000000n. Accepts plain decimals only and never rounds. Trailing zeros do not count. */
export function parseUnits(text: string, decimals: number): bigint {
  const match = /^(0|[1-9]\d{0,39})(?:\.(\d{1,100}))?$/.exec(text)
  if (!match)
    throw new ControlError(400, 'AMOUNT_MALFORMED', `"${text.slice(0, 60)}" is not a decimal amount; write it as "1.5"`)
  const fraction = withoutTrailingZeros(match[2] ?? '')
  if (fraction.length > decimals) {
    throw new ControlError(
      400,
      'AMOUNT_PRECISION',
      `amount has ${fraction.length} decimals; the currency has ${decimals}`,
    )
  }
  return BigInt(`${match[1]}${fraction.padEnd(decimals, '0')}`)
}

/** The digits behind the point of a decimal. */
export const withoutTrailingZeros = (fraction: string): string => fraction.replace(/0+$/, '')

/** 150000000n and 8 decimals → `"1.5"`. */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const fraction = withoutTrailingZeros(digits.slice(digits.length - decimals))
  return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - decimals)}${fraction === '' ? '' : `.${fraction}`}`
}
