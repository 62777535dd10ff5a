import { expect, test } from 'vitest'
import { assign } from './assignment.ts'

/** Every permutation, one after the other. */
function* permutations(count: number, taken: readonly number[] = []): Generator<readonly number[]> {
  if (taken.length === count) yield taken
  for (let next = 0; next < count; next++) if (!taken.includes(next)) yield* permutations(count, [...taken, next])
}

const total = (costs: readonly (readonly number[])[], columns: readonly number[]): number =>
  columns.reduce((sum, column, row) => sum + (costs[row]?.[column] ?? Number.NaN), 0)

test('the assignment is the cheapest of all, found by trying each', () => {
  for (let round = 0; round < 60; round++) {
    const count = 1 + (round % 6)
    // Small whole numbers, so that there are ties.
    const costs = Array.from({ length: count }, () =>
      Array.from({ length: count }, () => Math.floor(Math.random() * 8) - 2),
    )
    const found = assign(costs)
    expect(new Set(found).size).toBe(count)
    const least = Math.min(...[...permutations(count)].map((columns) => total(costs, columns)))
    expect(total(costs, found)).toBe(least)
  }
})

test('with more columns than rows, some are left over', () => {
  // 10 + 7 + 14, the least of the 24 that are possible.
  const costs = [
    [10, 19, 8, 15],
    [10, 18, 7, 17],
    [13, 16, 9, 14],
  ]
  expect(total(costs, assign(costs))).toBe(31)
  expect(() => assign([[1], [2]])).toThrow('fewer columns')
})
