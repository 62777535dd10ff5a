import fc from 'fast-check'
import { expect, test } from 'vitest'
import { power } from './log-exp.ts'

const ONE = 10n ** 18n

// The contract's own digits are held by the tests against real pools (server/test/swap); here float64 is the witness.
test('is the power within 10^-13', () => {
  const base = fc.bigInt({ min: ONE / 1_000n, max: 1_000n * ONE })
  const exponent = fc.bigInt({ min: ONE / 100n, max: 5n * ONE })
  fc.assert(
    fc.property(base, exponent, (x, y) => {
      const expected = (Number(x) / 1e18) ** (Number(y) / 1e18)
      const found = Number(power(x, y)) / 1e18
      expect(Math.abs(found - expected)).toBeLessThan(1e-13 * expected + 2e-18)
    }),
  )
})

test.each([
  [5n * ONE, 0n, ONE],
  [0n, 3n * ONE, 0n],
  [ONE, 7n * ONE, ONE],
])('%d to the %d', (x, y, expected) => {
  expect(power(x, y)).toBe(expected)
})

test('is none where the contract reverts', () => {
  expect(power(1n << 255n, ONE)).toBeNull()
  expect(power(2n * ONE, 2n ** 254n / 10n ** 20n)).toBeNull()
  expect(power(1_000n * ONE, 20n * ONE)).toBeNull()
  expect(power(ONE / 1_000n, 7n * ONE)).toBeNull()
})
