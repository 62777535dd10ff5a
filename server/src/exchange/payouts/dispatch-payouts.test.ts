import { expect, test } from 'vitest'
import { batchSize } from './dispatch-payouts.ts'

const payoutsOf = (...units: bigint[]) => units.map((one) => ({ units: one }))
const utxosOf = (...units: bigint[]) =>
  units.map((one, n) => ({ outpoint: `${n}`, units: one, path: { branch: 'hot', index: 0 } }) as const)
const repeat = (count: number, units: bigint) => Array.from({ length: count }, () => units)

test.each([
  ['one payout while outputs suffice', 6, 16, 1],
  ['one payout when exactly half of the outputs suffice', 8, 16, 1],
  ['two payouts when half of the outputs do not suffice', 9, 16, 2],
  ['all payouts with one output left', 15, 1, 15],
  ['all payouts with three outputs left', 2, 3, 2],
  ['all payouts without outputs, so that they wait together', 5, 0, 5],
])('takes %s', (_case, payoutCount, utxoCount, expected) => {
  expect(batchSize(payoutsOf(...repeat(payoutCount, 5n)), utxosOf(...repeat(utxoCount, 9n)))).toBe(expected)
})

test('ignores outputs that do not cover the largest payout', () => {
  expect(batchSize(payoutsOf(5n, 9n, 1n), utxosOf(9n, 10n, 5n, 1n))).toBe(3)
})
