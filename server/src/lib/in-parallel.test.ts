import { expect, test } from 'vitest'
import { inParallel } from './in-parallel.ts'

test('does everything, never more than so many at once', async () => {
  const did: number[] = []
  let running = 0
  let peak = 0
  await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    peak = Math.max(peak, ++running)
    await new Promise(setImmediate)
    running--
    did.push(item)
  })
  expect(did.sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(peak).toBe(3)
})

test('begins nothing after a failure, and throws it when the rest is over', async () => {
  const begun: number[] = []
  const ended: number[] = []
  const work = async (item: number) => {
    begun.push(item)
    if (item === 1) throw new Error('the first')
    await new Promise(setImmediate)
    ended.push(item)
  }
  await expect(inParallel([1, 2, 3, 4], 2, work)).rejects.toThrow('the first')
  expect(begun).toEqual([1, 2])
  expect(ended).toEqual([2])
})

test('does nothing of nothing', async () => {
  await inParallel([], 5, () => Promise.reject(new Error('there is no item')))
})
