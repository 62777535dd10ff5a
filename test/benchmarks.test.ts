import { expect, test } from 'vitest'
import { whyNotSaved } from '../bench/results.ts'
import { isUndecided } from '../bench/rounds.ts'

test('a run is saved only of a commit', () => {
  expect(whyNotSaved('738b95a9')).toBeNull()
  expect(whyNotSaved('738b95a9-dirty')).toMatch(/^--save refuses a checkout with changes/)
  expect(whyNotSaved('unknown')).toMatch(/^--save needs a git checkout/)
})

test('rounds on both sides of the goal decide nothing, and a single outlier does not matter', () => {
  const around = (...values: number[]) => isUndecided(values, 2)
  expect(around(0.9, 1, 1.1, 1.2)).toBe(false)
  expect(around(3, 4, 5, 6)).toBe(false)
  // One of ten lies on the other side.
  expect(around(0.9, 1, 1, 1.1, 1.1, 1.2, 1.2, 1.3, 1.4, 12)).toBe(false)
  expect(around(3, 3, 3, 3, 3, 3, 3, 3, 3, 0.5)).toBe(false)
  expect(around(0.3, 0.8, 1.2, 1.9, 2.5, 12)).toBe(true)
  // A ratio that equals the goal misses it.
  expect(around(1, 1, 2, 2)).toBe(true)
})
