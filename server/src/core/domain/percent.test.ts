import { describe, expect, it } from 'vitest'
import { formatPercent, minAfterSlippage, parsePercent, priceImpactPpm, referrerFeeOf } from './percent.ts'

describe('parsePercent', () => {
  it.for([
    ['0', 0],
    ['0.3', 3_000],
    ['0.0001', 1],
    ['5', 50_000],
    ['5.0000000', 50_000],
    [(0.5).toFixed(20), 5_000],
    [(0.5).toFixed(78), 5_000],
    ['100', 1_000_000],
  ] as const)('reads %s', ([text, ppm]) => {
    expect(parsePercent(text)).toBe(ppm)
  })

  it.for(['', '-1', '+1', '.5', '1.', '01', '1e1', '0.00001', '0.12345', ' 1', '1 ', '٣', 'NaN', '1,5', '1'.repeat(7)])(
    'refuses %o',
    (text) => {
      expect(parsePercent(text)).toBeNull()
    },
  )
})

describe('formatPercent', () => {
  it.for([
    [0, '0'],
    [1, '0.0001'],
    [3_000, '0.3'],
    [50_000, '5'],
    [-1_234, '-0.1234'],
    [1_000_000, '100'],
  ] as const)('writes %i', ([ppm, text]) => {
    expect(formatPercent(ppm)).toBe(text)
  })
})

it('rounds the fee and the minimum output down', () => {
  // 999 × 0.3 % = 2.997; 997 × 99.5 % = 992.015
  expect(referrerFeeOf(999n, 3_000)).toBe(2n)
  expect(minAfterSlippage(997n, 5_000)).toBe(992n)
  expect(minAfterSlippage(1n, 100)).toBe(0n)
  expect(referrerFeeOf(10n ** 60n, 0)).toBe(0n)
})

it('returns the price impact in ppm, positive for a worse output', () => {
  expect(priceImpactPpm(99n, 100n)).toBe(10_000n)
  expect(priceImpactPpm(101n, 100n)).toBe(-10_000n)
  expect(priceImpactPpm(1n, 0n)).toBeNull()
})
