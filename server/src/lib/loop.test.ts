import { expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { startLoop } from './loop.ts'

const HOUR_MS = 3_600_000
const quiet = { paceMs: HOUR_MS, backoffMs: HOUR_MS, onError: () => undefined }

test('a wake ends the pause, and a wake during a turn the one after it', async () => {
  let turns = 0
  const loop = startLoop({
    ...quiet,
    turn: async () => {
      turns++
      // The second turn is woken while it runs.
      if (turns === 2) loop.wake()
      return undefined
    },
  })
  await expect.poll(() => turns, PATIENCE).toBe(1)
  loop.wake()
  await expect.poll(() => turns, PATIENCE).toBe(3)
  await loop.stop()
  expect(turns).toBe(3)
})

test('a wake does not shorten the pause after a failure', async () => {
  let turns = 0
  const loop = startLoop({
    ...quiet,
    turn: () => {
      turns++
      return Promise.reject(new Error('away'))
    },
  })
  await expect.poll(() => turns, PATIENCE).toBe(1)
  loop.wake()
  await loop.stop()
  expect(turns).toBe(1)
})

test('a turn that returns a number is followed by the next one after so many ms', async () => {
  let turns = 0
  const loop = startLoop({
    ...quiet,
    turn: async () => {
      turns++
      return turns < 3 ? 1 : undefined
    },
  })
  await expect.poll(() => turns, PATIENCE).toBe(3)
  await loop.stop()
})

test('the pause before the first turn ends with a wake or a stop', async () => {
  let turns = 0
  const turn = async () => void turns++
  const woken = startLoop({ ...quiet, startMs: HOUR_MS, turn })
  await Promise.resolve()
  expect(turns).toBe(0)
  woken.wake()
  await expect.poll(() => turns, PATIENCE).toBe(1)
  const stopped = startLoop({ ...quiet, startMs: HOUR_MS, turn })
  await Promise.all([woken.stop(), stopped.stop()])
  expect(turns).toBe(1)
})
