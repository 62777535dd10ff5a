import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { price, usd } from '../../exchange/domain/pricing.fixture.ts'
import { convert, getPrice, newerPrices, pricesAt, unitsWorth, usdValue } from './price.ts'

const snapshot = pricesAt(
  0,
  new Map([
    ['btc', price('99990', '100010')],
    ['usdt', price('0.9999', '1.0001')],
  ]),
)
const btc = { priceKey: 'btc', decimals: 8 }
const usdt = { priceKey: 'usdt', decimals: 6 }

/** Decimal long division, digit by digit, independent of the code under test. */
function divideByHand(numerator: bigint, denominator: bigint, decimals: number): { text: string; exact: boolean } {
  let rest = numerator % denominator
  let text = (numerator / denominator).toString()
  for (let digit = 0; digit < decimals; digit++) {
    rest *= 10n
    text += (rest / denominator).toString()
    rest %= denominator
  }
  return { text: BigInt(text).toString(), exact: rest === 0n }
}

describe('convert', () => {
  it('sells from at its bid and buys to at its ask', () => {
    // 1 × 99990 ÷ 1.0001 = 99980.0019998…
    expect(convert(100_000_000n, btc, usdt, snapshot, 'give', 'down')).toBe(99_980_001_999n)
    expect(convert(100_000_000n, btc, usdt, snapshot, 'give', 'up')).toBe(99_980_002_000n)
  })

  it('covers from at its ask with to at its bid', () => {
    // 1 × 100010 ÷ 0.9999 = 100020.0020002…
    expect(convert(100_000_000n, btc, usdt, snapshot, 'cover', 'up')).toBe(100_020_002_001n)
  })

  it('is exact for every price, amount and decimals', () => {
    const units = fc.bigInt({ min: 1n, max: 10n ** 30n })
    const level = fc.bigInt({ min: 1n, max: 10n ** 20n })
    const decimals = fc.integer({ min: 0, max: 24 })
    fc.assert(
      fc.property(
        units,
        level,
        level,
        level,
        level,
        decimals,
        decimals,
        (amount, a, b, c, d, fromDecimals, toDecimals) => {
          const prices = pricesAt(
            0,
            new Map([
              ['from', { bid: a, ask: a + b }],
              ['to', { bid: c, ask: c + d }],
            ]),
          )
          const from = { priceKey: 'from', decimals: fromDecimals }
          const to = { priceKey: 'to', decimals: toDecimals }
          // amount × from price ÷ to price, to the last decimal of `to`.
          const byHand = divideByHand(amount * a, 10n ** BigInt(fromDecimals) * (c + d), toDecimals)
          const down = convert(amount, from, to, prices, 'give', 'down')
          expect(down.toString()).toBe(byHand.text)
          expect(convert(amount, from, to, prices, 'give', 'up') - down).toBe(byHand.exact ? 0n : 1n)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('getPrice', () => {
  it('throws without a price', () => {
    expect(() => getPrice(snapshot, 'doge')).toThrow(expect.objectContaining({ code: 'RATES_UNAVAILABLE' }))
  })

  it('rejects zero and crossed prices', () => {
    for (const [bid, ask] of [
      ['0', '1'],
      ['2', '1'],
    ] as const) {
      expect(() => getPrice(pricesAt(0, new Map([['x', price(bid, ask)]])), 'x')).toThrow('positive')
    }
  })
})

test('of two snapshots, each price is the newer one, and the last one decides which prices there are', () => {
  const [old, fresh] = [price('1', '1'), price('2', '2')]
  const last = {
    usd: new Map(Object.entries({ a: old, b: old, c: old })),
    times: new Map(Object.entries({ a: 5, b: 9 })),
  }
  const next = {
    usd: new Map(Object.entries({ a: fresh, b: fresh, d: fresh })),
    times: new Map(Object.entries({ a: 6, b: 7, d: 1 })),
  }
  expect(newerPrices(last, next)).toEqual({
    usd: new Map(Object.entries({ a: fresh, b: old, d: fresh })),
    times: new Map(Object.entries({ a: 6, b: 9, d: 1 })),
  })
})

describe('usdValue and unitsWorth', () => {
  it('convert between units and dollars', () => {
    expect(usdValue(150_000_000n, btc, usd('100000'), 'down')).toBe(usd('150000'))
    expect(usdValue(1n, { decimals: 18 }, usd('0.5'), 'down')).toBe(0n)
    expect(usdValue(1n, { decimals: 18 }, usd('0.5'), 'up')).toBe(1n)
    expect(unitsWorth(usd('300'), btc, usd('100000'), 'down')).toBe(300_000n)
  })
})
