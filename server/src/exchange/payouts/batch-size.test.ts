import { expect, test } from 'vitest'
import { batchSize } from './batch-size.ts'

const payouts = (...units: bigint[]) => units.map((one) => ({ units: one }))
const coins = (...units: bigint[]) =>
  units.map((one, n) => ({ outpoint: `${n}`, units: one, path: { branch: 'hot', index: 0 } }) as const)
const of = (count: number, units: bigint) => Array.from({ length: count }, () => units)

test.each([
  ['each alone while there are coins', 6, 16, 1],
  ['each alone by half of the coins', 8, 16, 1],
  ['two by two where they are more', 9, 16, 2],
  ['all together by the last coin', 15, 1, 15],
  ['all together by the last two', 2, 3, 2],
  ['all together without any: they wait', 5, 0, 5],
])('payouts leave %s', (_how, waiting, held, share) => {
  expect(batchSize(payouts(...of(waiting, 5n)), coins(...of(held, 9n)))).toBe(share)
})

test('coins that could not pay the largest are none', () => {
  expect(batchSize(payouts(5n, 9n, 1n), coins(9n, 10n, 5n, 1n))).toBe(3)
})
