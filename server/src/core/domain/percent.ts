import { scale } from './amount.ts'

/** 100 % in parts per million. Swap percentages are integers of 1 ppm (0.0001 %). */
export const WHOLE_PPM = 1_000_000
const FRACTION_DIGITS = 4
/** Allowed slippage of a swap: 0.01 to 50 percent. */
export const SLIPPAGE_PPM = { least: 100, most: 500_000 } as const
/** Allowed referrer fee of a swap: 0 to 5 percent. */
export const FEE_PPM = { least: 0, most: 50_000 } as const
/** Accepted loss of a swap: 0 to 100 percent. */
export const LOSS_PPM = { least: 0, most: WHOLE_PPM } as const
const PERCENT = /^(0|[1-9][0-9]{0,5})(?:\.([0-9]{1,18})0*)?$/

/** "0.3" → 3 000. null if the text is not a decimal, is negative, or has more than four decimals. */
export function parsePercent(text: string): number | null {
  const match = PERCENT.exec(text)
  if (match === null) return null
  const [, whole = '0', decimals = ''] = match
  const fraction = decimals.replace(/0+$/, '')
  if (fraction.length > FRACTION_DIGITS) return null
  return Number.parseInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'), 10)
}

/** 3 000 → "0.3"; −3 000 → "-0.3". */
export function formatPercent(ppm: number | bigint): string {
  const parts = BigInt(ppm)
  const digits = (parts < 0n ? -parts : parts).toString().padStart(FRACTION_DIGITS + 1, '0')
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '')
  const text = digits.slice(0, -FRACTION_DIGITS) + (fraction === '' ? '' : `.${fraction}`)
  return parts < 0n ? `-${text}` : text
}

/** Referrer fee of an output, rounded down as in SwapRouter.sol. */
export function referrerFeeOf(amountOut: bigint, feePpm: number): bigint {
  return scale(amountOut, BigInt(feePpm), BigInt(WHOLE_PPM), 'down')
}

/** Minimum output at this slippage, rounded down. */
export function minAfterSlippage(units: bigint, slippagePpm: number): bigint {
  return scale(units, BigInt(WHOLE_PPM - slippagePpm), BigInt(WHOLE_PPM), 'down')
}

/** Price impact in ppm: how far `amountOut` is below the output at mid prices. null without mid prices. */
export function priceImpactPpm(amountOut: bigint, midOut: bigint): bigint | null {
  if (midOut <= 0n) return null
  return ((midOut - amountOut) * BigInt(WHOLE_PPM)) / midOut
}
