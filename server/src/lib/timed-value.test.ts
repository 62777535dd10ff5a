import { expect, test } from 'vitest'
import { createTimedValue } from './timed-value.ts'

test('is read again when its time is over, from the source that is given then', async () => {
  let nowMs = 0
  const value = createTimedValue(
    5_000,
    () => nowMs,
    async (source: string) => `${source} at ${nowMs}`,
  )
  expect(value.value()).toBeNull()
  await value.refresh('a')
  nowMs = 4_999
  await value.refresh('b')
  expect(value.value()).toBe('a at 0')
  nowMs = 5_000
  await value.refresh('b')
  expect(value.value()).toBe('b at 5000')
})

test('keeps its former value if it cannot be read', async () => {
  let nowMs = 0
  const value = createTimedValue(
    10,
    () => nowMs,
    async (fails: boolean) => {
      if (fails) throw new Error('no answer')
      return 1
    },
  )
  await value.refresh(false)
  nowMs = 10
  await expect(value.refresh(true)).rejects.toThrow('no answer')
  expect(value.value()).toBe(1)
})
