import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseBestIntermediary, type QuotedIntermediary, quoteLegs } from './intermediary.ts'
import { makeBook, makeCurrency, NOW, price } from './pricing.fixture.ts'
import { afterNetworkFee, type PairPricing, pricePair } from './pricing.ts'
import { countedUnits, type PrivatePlan, paidUnits, shownUnits } from './private-plan.ts'

const btc = makeCurrency('btc', 'btc', { dustUnits: 546n })
const ltc = makeCurrency('ltc', 'ltc', { dustUnits: 546n })
const eth = makeCurrency('eth', 'eth', { decimals: 18 })
const ETHER = 10n ** 18n

/** 1 BTC = 10 LTC = 100 ETH, bid = ask; our spread is 0.4 % a leg. */
function legs(etherReserve: bigint): [PairPricing, PairPricing] {
  const book = makeBook({
    prices: { btc: price('1000', '1000'), ltc: price('100', '100'), eth: price('10', '10') },
    fees: {
      btc: { native: btc, units: { 'btc@btc': 1_500n } },
      ltc: { native: ltc, units: { 'ltc@ltc': 10_000n } },
      eth: { native: eth, units: { 'eth@eth': 210_000_000_000_000n } },
    },
    reserves: { 'btc@btc': 0n, 'ltc@ltc': 50_000_000_000n, 'eth@eth': etherReserve },
  })
  return [
    pricePair(book, { from: btc, to: ltc, flow: 'standard', partnerFeeBps: 0 }, NOW),
    pricePair(book, { from: ltc, to: eth, flow: 'standard', partnerFeeBps: 100 }, NOW),
  ]
}

describe('quoteLegs', () => {
  test('charges both spreads, both network fees, and the partner fee once', () => {
    const quote = quoteLegs(...legs(200n * ETHER), 100_000_000n)
    // 10 LTC − 0.4 % − 0.0001 = 9.9599 LTC; 99.599 ETH − 0.4 % = 99.200604; − 1 % = 98.20859796; − 0.00021.
    expect(quote.toUnits).toBe(98_208_387_960_000_000_000n)
    expect(quote.fees).toEqual({
      partnerUnits: 992_006_040_000_000_000n,
      // 0.00021 ETH, and 0.0001 LTC at ten ether a litecoin.
      networkUnits: 1_210_000_000_000_000n,
      payoutUnits: 210_000_000_000_000n,
      // 0.4 ETH of the first leg and 0.398396 of the second.
      serviceUnits: 798_396_000_000_000_000n,
    })
    expect(quote).toMatchObject({ fromUnits: 100_000_000n, withinBounds: true })
  })

  test('has bounds of both legs together', () => {
    const { minUnits, maxUnits } = quoteLegs(...legs(50n * ETHER), 100_000_000n)
    // The second leg accepts 20 000 litoshi, because that covers a refund: (20 000 + 10 000) ÷ 0.996 ÷ 10 = 3 012.05, to three digits.
    expect(minUnits).toBe(3_020n)
    // 50 ETH before the fee ÷ 0.99 ÷ 0.996 ÷ 10 = 5.07078820 LTC; (that + 0.0001) ÷ 0.996 ÷ 10 = 0.50912532 BTC.
    expect(maxUnits).toBe(50_912_532n)
  })

  test('leaves reserve for a payout above the estimate', () => {
    const [first, second] = legs(50n * ETHER)
    const { maxUnits } = quoteLegs(first, second, 100_000_000n, 10_000)
    const paid = afterNetworkFee(second, afterNetworkFee(first, maxUnits ?? 0n))
    expect((paid * 101n) / 100n).toBeLessThanOrEqual(50n * ETHER)
    // 1 % below 0.50912532 BTC, not more.
    expect(maxUnits).toBeGreaterThan(50_400_000n)
    expect(maxUnits).toBeLessThan(50_410_000n)
  })

  test('of one unit pays nothing and is out of bounds', () => {
    expect(quoteLegs(...legs(50n * ETHER), 1n)).toMatchObject({ toUnits: 0n, withinBounds: false })
  })

  test('pays on both legs at min, and the reserve covers max', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10_000n * ETHER }), (reserve) => {
        let both: [PairPricing, PairPricing]
        try {
          both = legs(reserve + ETHER / 1_000n)
        } catch (error) {
          expect(error).toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY' })
          fc.pre(false)
          throw error
        }
        const { minUnits, maxUnits, minToUnits, maxToUnits } = quoteLegs(...both, 100_000_000n)
        expect(quoteLegs(...both, minUnits).toUnits).toBe(minToUnits)
        expect(quoteLegs(...both, maxUnits ?? 0n).toUnits).toBe(maxToUnits)
        const out = (units: bigint) => afterNetworkFee(both[1], afterNetworkFee(both[0], units))
        expect(afterNetworkFee(both[0], minUnits)).toBeGreaterThanOrEqual(both[1].minUnits)
        expect(out(maxUnits ?? 0n)).toBeLessThanOrEqual(both[1].availableUnits ?? 0n)
      }),
      // fast-check fails the property if more reserves are refused than accepted.
      { numRuns: 200, maxSkipsPerRun: 1 },
    )
  })
})

const candidate = (
  ticker: string,
  toUnits: bigint,
  seconds: number,
  bounds = { min: 1n, max: 100n },
): QuotedIntermediary => {
  const via = makeCurrency(ticker, ticker)
  const quote = quoteLegs(...legs(50n * ETHER), 100_000_000n)
  const [minUnits, maxUnits] = [bounds.min, bounds.max]
  return {
    via,
    seconds,
    quoted: { viaUnits: '0', toUnits: '0' },
    quote: { ...quote, fromUnits: 50n, toUnits, minUnits, maxUnits, withinBounds: minUnits <= 50n && maxUnits >= 50n },
  }
}

describe('chooseBestIntermediary', () => {
  test('prefers the higher payout, with a minute of waiting at half a basis point', () => {
    // Ten minutes cost five basis points: 5 000 of ten million.
    const slow = candidate('slow', 10_000_000n, 660)
    expect(chooseBestIntermediary([slow, candidate('fast', 9_995_001n, 60)])?.via.asset.ticker).toBe('fast')
    expect(chooseBestIntermediary([slow, candidate('fast', 9_994_000n, 60)])?.via.asset.ticker).toBe('slow')
  })

  test('prefers one that accepts the amount', () => {
    const small = candidate('small', 20_000_000n, 1, { min: 1n, max: 40n })
    expect(chooseBestIntermediary([small, candidate('large', 10n, 900)])?.via.asset.ticker).toBe('large')
  })

  test('prefers the widest bounds if none accepts the amount', () => {
    const [low, high] = [
      candidate('low', 5n, 1, { min: 60n, max: 70n }),
      candidate('high', 9n, 1, { min: 80n, max: 90n }),
    ]
    expect(chooseBestIntermediary([high, low])?.via.asset.ticker).toBe('low')
    const [less, more] = [
      candidate('less', 9n, 1, { min: 1n, max: 20n }),
      candidate('more', 5n, 1, { min: 1n, max: 40n }),
    ]
    expect(chooseBestIntermediary([less, more])?.via.asset.ticker).toBe('more')
  })

  test('does not depend on the order, and returns null without candidates', () => {
    const equal = [candidate('b', 7n, 1), candidate('a', 7n, 1)]
    expect(chooseBestIntermediary(equal)?.via.asset.ticker).toBe('a')
    expect(chooseBestIntermediary([...equal].reverse())?.via.asset.ticker).toBe('a')
    expect(chooseBestIntermediary([])).toBe(null)
  })
})

describe('shownUnits, countedUnits and paidUnits', () => {
  const plan = (withheldPpm: number): PrivatePlan => ({
    privateType: 'efficient',
    delaysMs: [0, 0],
    withheldPpm,
    stallMs: 1,
    considered: [],
    quoted: { viaUnits: '0', toUnits: '0' },
  })

  test('withhold a part, and count it again', () => {
    // 0.25 % of 4 000 000 is 10 000.
    expect(shownUnits(plan(2_500), 4_000_000n)).toBe(3_990_000n)
    expect(countedUnits(plan(2_500), 3_990_000n)).toBe(4_000_000n)
  })

  test('apply the payout difference to the recipient only', () => {
    expect(paidUnits(plan(2_500), 4_000_000n)).toBe(4_000_000n)
    expect(paidUnits({ ...plan(2_500), payoutPpm: 3_000 }, 4_000_000n)).toBe(4_012_000n)
    expect(paidUnits({ ...plan(2_500), payoutPpm: -3_000 }, 4_000_000n)).toBe(3_988_000n)
  })

  test('never increase the amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.integer({ min: 1, max: 50_000 }), (units, ppm) => {
        const shown = shownUnits(plan(ppm), units)
        expect(shown).toBeLessThan(units)
        expect(countedUnits(plan(ppm), shown)).toBeLessThanOrEqual(units)
      }),
    )
  })
})
