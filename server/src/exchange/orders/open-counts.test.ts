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

test('many creates of one second ask the database once, and are counted on', async () => {
  const { state, count } = setup(3)
  expect(await Promise.all([count(), count(), count()])).toEqual([3, 4, 5])
  expect(state.reads).toBe(1)
})

test('a second later the database is asked again', async () => {
  const { state, count } = setup(3)
  await count()
  state.now = 1_001
  state.open = 1
  expect(await count()).toBe(1)
  expect(state.reads).toBe(2)
})

test('at the limit nobody is refused by an old count', async () => {
  const { state, count } = setup(9)
  expect(await count()).toBe(9)
  // One was closed meanwhile.
  state.open = 9
  expect(await count()).toBe(9)
  state.open = 10
  expect(await count()).toBe(10)
  expect(await count()).toBe(10)
})

test('a database that is away fails the create, and is asked again by the next', async () => {
  let away = true
  const count = createOpenCounts({
    countOpen: async () => {
      if (away) throw new Error('away')
      return 2
    },
    now: () => 0,
  })
  await expect(count('partner', 10)).rejects.toThrow('away')
  away = false
  expect(await count('partner', 10)).toBe(2)
})
