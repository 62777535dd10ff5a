import { expect, test } from 'vitest'
import { rebalanceSaturated } from './rebalance-saturated.ts'

/*
 * From token 0 half goes over 1 and half over 2; of 1 half goes to the target 9 by swap 2, half on to 2. What arrives at 2 goes to 9
 * by two swaps, in halves.
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

test('a full swap gives to the one beside it', () => {
  expect(rounded(rebalanceSaturated(flows, 4, 0.1, new Set([4])))).toEqual([0.5, 1, 0.5, 1, 0.45, 1])
})

test('the last one, which takes what is left, gives too', () => {
  expect(rounded(rebalanceSaturated(flows, 5, 0.1, new Set([5])))).toEqual([0.5, 1, 0.5, 1, 0.55, 1])
})

test('where those beside it are full, what comes to its token goes another way, of the nearest token first', () => {
  // It takes 0.375 of all. A tenth less is 0.0375, half of 0.075 that does not go from 1 to 2: that is 0.15 of what is at 1.
  expect(rounded(rebalanceSaturated(flows, 4, 0.1, new Set([4, 5])))).toEqual([0.5, 1, 0.65, 1, 0.5, 1])
})

test('where all of the last token is full, nothing can be done', () => {
  expect(rebalanceSaturated(flows.slice(4), 0, 0.1, new Set([0, 1]))).toBeNull()
})

test('nothing is taken from a swap as a whole: what is too much goes on to be taken from tokens before', () => {
  const line = [
    { from: 0, to: 9, share: 0.5 },
    { from: 0, to: 1, share: 1 },
    { from: 1, to: 9, share: 1 },
  ]
  expect(rounded(rebalanceSaturated(line, 2, 0.5, new Set([2])))).toEqual([0.75, 1, 1])
  expect(rounded(rebalanceSaturated(line, 2, 1, new Set([2])))).toEqual([0.9995, 1, 1])
})
