import { expect, test } from 'vitest'
import { createGate } from './semaphore.ts'

test('no more run at once than there is room for, in order, and a failure makes room', async () => {
  const gate = createGate(2)
  const ends: (() => void)[] = []
  const begun: number[] = []
  const work = (name: number) => () =>
    new Promise<number>((resolve, reject) => {
      begun.push(name)
      ends.push(() => (name === 1 ? reject(new Error('no')) : resolve(name)))
    })
  const all = Promise.allSettled([1, 2, 3, 4].map((name) => gate(work(name))))
  await Promise.resolve()
  expect(begun).toEqual([1, 2])
  ends[0]?.()
  await new Promise(setImmediate)
  expect(begun).toEqual([1, 2, 3])
  ends[1]?.()
  ends[2]?.()
  await new Promise(setImmediate)
  ends[3]?.()
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(await gate(async () => 5)).toBe(5)
})
