import type { TrackedPool } from './tracked-pool.ts'

/** Length of a fee forecast. Without events the fee is forecast again before the end. */
export const FORECAST_SECONDS = 150
/** Seconds covered by the fee of a quote: 30 for the quote itself, the rest for the age of its block and the wait for the next one. */
export const QUOTE_FEE_SECONDS = 60

/** The highest fee of the seconds for which a quote of this block time must hold. */
export function highestFee({ from, ppm }: NonNullable<TrackedPool['fees']>, now: number): number {
  const first = now - from
  return ppm.slice(first, first + QUOTE_FEE_SECONDS + 1).reduce((most, one) => Math.max(most, one), 0)
}
