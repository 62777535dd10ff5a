import { expect, test } from 'vitest'
import { rebalanceSaturated } from './rebalance-saturated.ts'

/*
 * Half of token 0 goes to token 1, half to token 2. Half of token 1 goes to the target 9 by swap 2, the rest to token 2. Swaps 4 and 5 each
 * take half of token 2 to the target.
 */
const flows = [
  { from: 0, to: 1, share: 0.5 },
  { from: 0, to: 2, share: 1 },
  { from: 1, to: 9, share: 0.5 },
  { from: 1, to: 2, share: 1 },
  { from: 2, to: 9, share: 0.5 },
  { from: 2, to: 9, share: 1 },
]

const rounded = (shares: readonly number[] | null) => shares?.map((share) => Math.round(share * 1e6) / 1e6)

test('moves the excess of a saturated swap to a parallel swap', () => {
  expect(rounded(rebalanceSaturated(flows, 4, 0.1, new Set([4])))).toEqual([0.5, 1, 0.5, 1, 0.45, 1])
})

test('moves the excess of a saturated swap that takes the remaining balance', () => {
  expect(rounded(rebalanceSaturated(flows, 5, 0.1, new Set([5])))).toEqual([0.5, 1, 0.5, 1, 0.55, 1])
})

test('moves the excess at the closest token upstream if all parallel swaps are saturated', () => {
  // Swap 4 takes 0.375 of the source. A tenth of it, 0.0375, is half of the 0.075 that is moved away from swap 3, or 0.15 of token 1.
  expect(rounded(rebalanceSaturated(flows, 4, 0.1, new Set([4, 5])))).toEqual([0.5, 1, 0.65, 1, 0.5, 1])
})

test('returns null if all swaps are saturated', () => {
  expect(rebalanceSaturated(flows.slice(4), 0, 0.1, new Set([0, 1]))).toBeNull()
})

test('leaves every swap at least a thousandth of its weight', () => {
  const line = [
    { from: 0, to: 9, share: 0.5 },
    { from: 0, to: 1, share: 1 },
    { from: 1, to: 9, share: 1 },
  ]
  expect(rounded(rebalanceSaturated(line, 2, 0.5, new Set([2])))).toEqual([0.75, 1, 1])
  expect(rounded(rebalanceSaturated(line, 2, 1, new Set([2])))).toEqual([0.9995, 1, 1])
})
