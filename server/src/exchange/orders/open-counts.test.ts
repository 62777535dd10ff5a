import { expect, test } from 'vitest'
import { createOpenCounts } from './open-counts.ts'

function setup(open: number) {
  const state = { open, reads: 0, now: 0 }
  const count = createOpenCounts({
    countOpen: async (_, most) => {
      state.reads += 1
      return Math.min(state.open, most)
    },
    now: () => state.now,
  })
  return { state, count: () => count('partner', 10) }
}

test('reads the count once for concurrent creates and adds one for each', async () => {
  const { state, count } = setup(3)
  expect(await Promise.all([count(), count(), count()])).toEqual([3, 4, 5])
  expect(state.reads).toBe(1)
})

test('reads the count again after one second', async () => {
  const { state, count } = setup(3)
  await count()
  state.now = 1_001
  state.open = 1
  expect(await count()).toBe(1)
  expect(state.reads).toBe(2)
})

test('rejects no create by a cached count', async () => {
  const { state, count } = setup(9)
  expect(await count()).toBe(9)
  // One exchange has closed since.
  state.open = 9
  expect(await count()).toBe(9)
  state.open = 10
  expect(await count()).toBe(10)
  expect(await count()).toBe(10)
})

test('fails if the database is unreachable, and reads again on the next call', async () => {
  let isAway = true
  const count = createOpenCounts({
    countOpen: async () => {
      if (isAway) throw new Error('away')
      return 2
    },
    now: () => 0,
  })
  await expect(count('partner', 10)).rejects.toThrow('away')
  isAway = false
  expect(await count('partner', 10)).toBe(2)
})
