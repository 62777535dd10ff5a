import { expect, test } from 'vitest'
import { createRandom } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { assign } from './assignment.ts'

/** Yields every permutation of the numbers below `count`. */
function* listPermutations(count: number, prefix: readonly number[] = []): Generator<readonly number[]> {
  if (prefix.length === count) yield prefix
  for (let next = 0; next < count; next++) if (!prefix.includes(next)) yield* listPermutations(count, [...prefix, next])
}

const sumCosts = (costs: readonly (readonly number[])[], columns: readonly number[]): number =>
  columns.reduce((sum, column, row) => sum + (costs[row]?.[column] ?? Number.NaN), 0)

test('finds the cheapest of all possible assignments', () => {
  const random = createRandom(seed)
  for (let round = 0; round < 60; round++) {
    const count = 1 + (round % 6)
    // Small integers, so that some costs are equal.
    const costs = Array.from({ length: count }, () => Array.from({ length: count }, () => random.draw(-2, 6)))
    const assignment = assign(costs)
    expect(new Set(assignment).size).toBe(count)
    const minimum = Math.min(...[...listPermutations(count)].map((columns) => sumCosts(costs, columns)))
    expect(sumCosts(costs, assignment)).toBe(minimum)
  }
})

test('leaves columns unassigned if there are more columns than rows, and rejects fewer columns', () => {
  // 10 + 7 + 14, the minimum of the 24 possible assignments.
  const costs = [
    [10, 19, 8, 15],
    [10, 18, 7, 17],
    [13, 16, 9, 14],
  ]
  expect(sumCosts(costs, assign(costs))).toBe(31)
  expect(() => assign([[1], [2]])).toThrow('fewer columns')
})
