import { scale } from './amount.ts'

/** A whole in millionths. Percentages of swaps are counted in them: a ten-thousandth of a percent is one. */
export const WHOLE_PPM = 1_000_000
const FRACTION_DIGITS = 4
/** Slippage that a swap may ask for: 0.01 to 50 percent. */
export const SLIPPAGE_PPM = { least: 100, most: 500_000 } as const
/** Referrer fee of a swap: 0 to 5 percent. */
export const FEE_PPM = { least: 0, most: 50_000 } as const
const PERCENT = /^(0|[1-9][0-9]{0,5})(?:\.([0-9]{1,18}))?$/

/** "0.3" → 3 000. null for what is no percentage, is negative, or is finer than a millionth of the whole. */
export function parsePercent(text: string): number | null {
  const match = PERCENT.exec(text)
  if (match === null) return null
  const [, whole = '0', behind = ''] = match
  const fraction = behind.replace(/0+$/, '')
  if (fraction.length > FRACTION_DIGITS) return null
  return Number.parseInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'), 10)
}

/** 3 000 → "0.3"; below zero with its sign. */
export function formatPercent(ppm: number | bigint): string {
  const parts = BigInt(ppm)
  const digits = (parts < 0n ? -parts : parts).toString().padStart(FRACTION_DIGITS + 1, '0')
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '')
  const text = digits.slice(0, -FRACTION_DIGITS) + (fraction === '' ? '' : `.${fraction}`)
  return parts < 0n ? `-${text}` : text
}

/** What the router takes of an output for the referrer: rounded down, as in SwapRouter.sol. */
export function feeOf(amountOut: bigint, feePpm: number): bigint {
  return scale(amountOut, BigInt(feePpm), BigInt(WHOLE_PPM), 'down')
}

/** The least that is accepted in place of `units`, rounded down. */
export function leastOf(units: bigint, slippagePpm: number): bigint {
  return scale(units, BigInt(WHOLE_PPM - slippagePpm), BigInt(WHOLE_PPM), 'down')
}

/** By how many millionths `amountOut` lies below what the middle prices would pay; null where they are not known. */
export function impactOf(amountOut: bigint, middleOut: bigint): bigint | null {
  if (middleOut <= 0n) return null
  return ((middleOut - amountOut) * BigInt(WHOLE_PPM)) / middleOut
}
