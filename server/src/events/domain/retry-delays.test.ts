import { expect, test } from 'vitest'
import { retryDelayMs, retryDelaysMs } from './retry-delays.ts'

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
