import fc from 'fast-check'
import { expect, test } from 'vitest'
import { power } from './log-exp.ts'

const ONE = 10n ** 18n

// Tests against real pools (server/test/swap/routing) compare every digit with the contract. This test compares with float64.
test('power matches float64 within a relative error of 10^-13', () => {
  const base = fc.bigInt({ min: ONE / 1_000n, max: 1_000n * ONE })
  const exponent = fc.bigInt({ min: ONE / 100n, max: 5n * ONE })
  fc.assert(
    fc.property(base, exponent, (x, y) => {
      const expected = (Number(x) / 1e18) ** (Number(y) / 1e18)
      const result = Number(power(x, y)) / 1e18
      expect(Math.abs(result - expected)).toBeLessThan(1e-13 * expected + 2e-18)
    }),
  )
})

test.each([
  [5n * ONE, 0n, ONE],
  [0n, 3n * ONE, 0n],
  [ONE, 7n * ONE, ONE],
])('power of %d to %d', (x, y, expected) => {
  expect(power(x, y)).toBe(expected)
})

test('power is null where the contract reverts', () => {
  expect(power(1n << 255n, ONE)).toBeNull()
  expect(power(2n * ONE, 2n ** 254n / 10n ** 20n)).toBeNull()
  expect(power(1_000n * ONE, 20n * ONE)).toBeNull()
  expect(power(ONE / 1_000n, 7n * ONE)).toBeNull()
})
