const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Delays after a failure, one after the other. Together three days. */
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

/**
 * The time until the next attempt of a delivery that first failed `failingMs` ago; null after the last one. Attempts that a partner
 * asks for do not change it. `random` is from 0 to 1.
 */
export function nextAttemptMs(failingMs: number, random: number): number | null {
  let dueMs = 0
  for (const delay of retryDelaysMs) {
    dueMs += delay
    if (dueMs > failingMs) return Math.ceil(dueMs - failingMs + delay * JITTER * random)
  }
  return null
}
