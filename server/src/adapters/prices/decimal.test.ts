import { describe, expect, test } from 'vitest'
import { parseExactJson, readDecimal } from './decimal.ts'

describe('decimal text × 10^12', () => {
  test.each([
    ['65231.90000', 65_231_900_000_000_000n],
    ['0.000000012345', 12_345n],
    ['9.87e-7', 987_000n],
    ['1E-12', 1n],
    ['1.5e+3', 1_500_000_000_000_000n],
    ['12e0', 12_000_000_000_000n],
    ['0', 0n],
    ['999999999999999', 999_999_999_999_999_000_000_000_000n],
    // 16 significant digits: as a float it would become 123456789.12345679.
    ['123456789.1234567812', 123_456_789_123_456_781_200n],
  ])('%s is exact', (text, expected) => {
    expect([readDecimal(text, 'down'), readDecimal(text, 'up')]).toEqual([expected, expected])
  })

  test.each([
    ['0.0000000000015', 1n, 2n],
    ['1e-13', 0n, 1n],
    ['4.0185e-9', 4_018n, 4_019n],
    ['1e-99', 0n, 1n],
  ])('%s is rounded by the named direction', (text, down, up) => {
    expect([readDecimal(text, 'down'), readDecimal(text, 'up')]).toEqual([down, up])
  })

  test.each([
    '',
    '-1',
    '+1',
    '1.',
    '.5',
    '01',
    '1e',
    '1e100',
    '1_000',
    '0x10',
    'NaN',
    'Infinity',
    ' 1',
    '1e15.5',
    '1000000000000000.1',
  ])('%j is malformed', (text) => {
    expect(readDecimal(text, 'down')).toBeNull()
  })

  test.each([1, 1n, null, undefined, {}, ['1']])('is null for %s, which is no text', (value) => {
    expect(readDecimal(value, 'down')).toBeNull()
  })

  test('is null above 10^15', () => {
    expect(readDecimal('1e16', 'down')).toBeNull()
    expect(readDecimal('9e99', 'up')).toBeNull()
  })
})

test('JSON numbers keep every digit of their text', () => {
  expect(parseExactJson('[0.1, 1e-8, 12345678901234567890.123456789, "7", null, {"a": -2}]')).toEqual([
    ...['0.1', '1e-8', '12345678901234567890.123456789', '7', null],
    { a: '-2' },
  ])
})
