import type { TrackedPool } from './tracked-pool.ts'

/** The fee is foretold so far ahead; where nothing happens it is read again a little before. */
export const FORECAST_SECONDS = 150
/** A quote is meant to hold for half of it, then there is the block to come, and the age of the one that it was made of. */
export const QUOTE_FEE_SECONDS = 60

/** What a pool is promised with in a block of this time: the highest fee of the next seconds. */
export function highestFee({ from, ppm }: NonNullable<TrackedPool['fees']>, now: number): number {
  const first = now - from
  return ppm.slice(first, first + QUOTE_FEE_SECONDS + 1).reduce((most, one) => Math.max(most, one), 0)
}
