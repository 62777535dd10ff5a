import { expect, test } from 'vitest'
import { nextAttemptMs, retryDelayMs, retryDelaysMs } from './retry-delays.ts'

const HOUR_MS = 3_600_000

test('the delays grow, take three days together, and end', () => {
  expect([...retryDelaysMs].sort((a, b) => a - b)).toEqual(retryDelaysMs)
  expect(retryDelaysMs.reduce((sum, delay) => sum + delay, 0)).toBe(72 * HOUR_MS)
  expect(retryDelayMs(18, 0)).toBeNull()
})

test('up to a tenth is added at random, and nothing is taken away', () => {
  expect([retryDelayMs(1, 0), retryDelayMs(1, 1)]).toEqual([10_000, 11_000])
  expect([retryDelayMs(17, 0), retryDelayMs(17, 1)]).toEqual([8 * HOUR_MS, 31_680_000])
})

test('a delivery is sent 17 times in the three days after its first failure, and the time alone decides when', () => {
  const times: number[] = []
  for (let failingMs = 0; ; ) {
    const next = nextAttemptMs(failingMs, 0)
    if (next === null) break
    failingMs += next
    times.push(failingMs)
  }
  const hours = [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72].map((n) => n * HOUR_MS)
  expect(times).toEqual([10_000, 60_000, 300_000, 900_000, 1_800_000, ...hours])
  // An attempt in between leaves the time of the next one as it is.
  expect(nextAttemptMs(9 * HOUR_MS, 0)).toBe(7 * HOUR_MS)
  expect(nextAttemptMs(72 * HOUR_MS - 1, 0)).toBe(1)
  expect(nextAttemptMs(72 * HOUR_MS, 0)).toBeNull()
})

test('up to a tenth of the pause is added at random, so that no time of the schedule is left out', () => {
  expect([nextAttemptMs(0, 1), nextAttemptMs(8 * HOUR_MS, 1)]).toEqual([11_000, 31_680_000])
  expect(nextAttemptMs(8 * HOUR_MS + 31_680_000, 0)).toBe(8 * HOUR_MS - 2_880_000)
})
