import { expect, test } from 'vitest'
import { createSlotProgress } from './slot-progress.ts'

test('a node whose slot no longer increases has stopped, until it increases again', () => {
  let nowMs = 1_000
  const check = createSlotProgress('sol', 90_000, () => nowMs)
  check(7)
  nowMs += 90_000
  check(7)
  nowMs += 1
  const stopped = expect.objectContaining({ code: 'NETWORK_UNAVAILABLE' })
  expect(() => check(7)).toThrow(stopped)
  // A node that lags behind is no progress.
  expect(() => check(6)).toThrow(stopped)
  check(8)
  nowMs += 90_000
  check(8)
})
