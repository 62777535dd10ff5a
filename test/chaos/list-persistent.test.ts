import { expect, test } from 'vitest'
import { listPersistent } from './check-ledger.ts'

/** A limit that is over when the first check ends. */
const OVER = -1

const createCheck = (...answers: readonly (readonly string[])[]) => {
  let made = 0
  return { check: async () => answers[made++] ?? [], countMade: () => made }
}

test('a difference is in a second check, too, also if the first one took longer than the limit', async () => {
  const { check, countMade } = createCheck(['one'], [])
  expect(await listPersistent(check, OVER)).toEqual([])
  expect(countMade()).toBe(2)
})

test('a difference that lasts is returned', async () => {
  const { check, countMade } = createCheck(['one'], ['two'], [])
  expect(await listPersistent(check, OVER)).toEqual(['two'])
  expect(countMade()).toBe(2)
})

test('a check without a limit is made once', async () => {
  const { check, countMade } = createCheck(['one'], [])
  // The limit is over a millisecond later.
  const late = async () => {
    const asked = Date.now()
    while (Date.now() === asked);
    return check()
  }
  expect(await listPersistent(late, 0)).toEqual(['one'])
  expect(countMade()).toBe(1)
})
