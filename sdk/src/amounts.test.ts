import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addAmounts, amountToUnits, compareAmounts, numberToAmount, subtractAmounts, unitsToAmount } from './amounts.ts'

describe('amountToUnits', () => {
  test.each([
    ['1.5', 6, 1_500_000n],
    ['0.00000001', 8, 1n],
    ['0', 18, 0n],
    ['21000000', 8, 2_100_000_000_000_000n],
    ['1.2300', 2, 123n],
    ['7', 0, 7n],
    ['123456789.123456789123456789', 18, 123_456_789_123_456_789_123_456_789n],
  ])('%s with %i decimals', (amount, decimals, units) => {
    expect(amountToUnits(amount, decimals)).toBe(units)
  })

  test('refuses more decimals than the currency has, and never rounds', () => {
    expect(() => amountToUnits('0.000000001', 8)).toThrow('9 decimals')
  })

  test.each(['', '.5', '1.', '-1', '+1', '1e8', '01', '1,5', ' 1', '1\n', '0x10', 'NaN', '١'])(
    'refuses %j',
    (amount) => {
      expect(() => amountToUnits(amount, 8)).toThrow(RangeError)
    },
  )

  test.each([-1, 1.5, 256, Number.NaN])('refuses %d decimals', (decimals) => {
    expect(() => amountToUnits('1', decimals)).toThrow(RangeError)
    expect(() => unitsToAmount(1n, decimals)).toThrow(RangeError)
  })
})

describe('unitsToAmount', () => {
  test.each([
    [1_500_000n, 6, '1.5'],
    [1n, 18, '0.000000000000000001'],
    [0n, 8, '0'],
    [100n, 2, '1'],
    [70n, 0, '70'],
  ])('%i with %i decimals', (units, decimals, amount) => {
    expect(unitsToAmount(units, decimals)).toBe(amount)
  })

  test('is the inverse of amountToUnits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 60n }), fc.nat(40), (units, decimals) => {
        expect(amountToUnits(unitsToAmount(units, decimals), decimals)).toBe(units)
      }),
    )
  })

  test('refuses a negative amount', () => {
    expect(() => unitsToAmount(-1n, 8)).toThrow(RangeError)
  })
})

describe('numberToAmount', () => {
  test.each([
    [1e-7, '0.0000001'],
    [1.5e-9, '0.0000000015'],
    [1e21, '1000000000000000000000'],
    [1.23e25, '12300000000000000000000000'],
    [0, '0'],
    [642.10558, '642.10558'],
    [0.1, '0.1'],
    [123456789.123456, '123456789.123456'],
  ])('%d', (value, amount) => {
    expect(numberToAmount(value)).toBe(amount)
  })

  test.each([0.1 + 0.2, -1, Number.NaN, Number.POSITIVE_INFINITY, 1234567890.1234567])('refuses %d', (value) => {
    expect(() => numberToAmount(value)).toThrow(RangeError)
  })

  test('returns every decimal of 15 digits as JSON stated it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 999_999_999_999_999n }), fc.nat(24), (digits, decimals) => {
        const stated = unitsToAmount(digits, decimals)
        expect(numberToAmount(JSON.parse(stated))).toBe(stated)
      }),
    )
  })
})

test('amounts are compared and added exactly', () => {
  expect(compareAmounts('1.0', '1')).toBe(0)
  expect(compareAmounts('0.30000000000000001', '0.3')).toBe(1)
  expect(compareAmounts('9', '10')).toBe(-1)
  expect(addAmounts('0.1', '0.2')).toBe('0.3')
  expect(subtractAmounts('1', '0.000000000000000001')).toBe('0.999999999999999999')
  expect(() => subtractAmounts('1', '2')).toThrow(RangeError)
})
