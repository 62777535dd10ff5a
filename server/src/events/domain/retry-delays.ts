const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Delay after each failed attempt. Together three days. */
export const retryDelaysMs: readonly number[] = [
  10 * SECOND_MS,
  50 * SECOND_MS,
  4 * MINUTE_MS,
  10 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  1 * HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  ...Array<number>(8).fill(8 * HOUR_MS),
]
/** Up to this part is added at random, so that what failed together is not repeated together. */
const JITTER = 0.1

/** The delay after the n-th failed attempt, from 1; null after the last one. `random` is from 0 to 1. */
export function retryDelayMs(attempts: number, random: number): number | null {
  const delay = retryDelaysMs[attempts - 1]
  return delay === undefined ? null : Math.round(delay * (1 + JITTER * random))
}
