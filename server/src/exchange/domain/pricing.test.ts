import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Book } from '../../core/domain/book.ts'
import type { AssetClass } from '../../core/domain/currency.ts'
import { convert } from '../../core/domain/price.ts'
import type { Flow } from './exchange.ts'
import { book, bookParts, btc, eth, makeBook, makeCurrency, NOW, price, shib, usdt } from './pricing.fixture.ts'
import {
  afterNetworkFee,
  maxInputFor,
  minInputFor,
  type Pair,
  payoutFeeIn,
  payoutUnits,
  pricePair,
  quotedInputFor,
  quoteUnits,
} from './pricing.ts'

const code = (text: string) => expect.objectContaining({ code: text })
/** Prices and quotes in one step. */
const quote = (book: Book, input: Pair & Readonly<{ fromUnits: bigint; now: number }>) =>
  quoteUnits(pricePair(book, input, input.now), input.fromUnits)
const request = { from: btc, to: usdt, flow: 'standard' as Flow, partnerFeeBps: 0, now: NOW }

/** Exact fractions, independent of the code under test. */
type Fraction = readonly [bigint, bigint]
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d]
const over = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d, b * c]
const roundDown = ([a, b]: Fraction): bigint => a / b
const roundUp = ([a, b]: Fraction): bigint => (a + b - 1n) / b
const cut15 = (units: bigint) =>
  BigInt(units.toString().replace(/^(\d{15})(\d+)$/, (_, digits, rest) => digits + '0'.repeat(rest.length)))

const level = fc.bigInt({ min: 1n, max: 10n ** 18n })
const spread = fc.bigInt({ min: 0n, max: 10n ** 15n })
const market = fc.record({
  fromBid: level,
  fromSpread: spread,
  toBid: level,
  toSpread: spread,
  fromDecimals: fc.integer({ min: 0, max: 24 }),
  toDecimals: fc.integer({ min: 0, max: 24 }),
  fromFee: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  toFee: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  partnerFeeBps: fc.integer({ min: 0, max: 1_000 }),
  classes: fc.tuple(
    fc.constantFrom<AssetClass>('stable', 'major', 'minor'),
    fc.constantFrom<AssetClass>('stable', 'major', 'minor'),
  ),
  flow: fc.constantFrom<Flow>('standard', 'fixed-rate'),
  reserve: fc.option(fc.bigInt({ min: 0n, max: 10n ** 40n }), { nil: null }),
})
type Market = typeof market extends fc.Arbitrary<infer M> ? M : never

function arrange(m: Market) {
  const from = makeCurrency('aaa', 'one', { decimals: m.fromDecimals, assetClass: m.classes[0] })
  const to = makeCurrency('bbb', 'two', { decimals: m.toDecimals, assetClass: m.classes[1] })
  const made = makeBook({
    prices: {
      aaa: { bid: m.fromBid, ask: m.fromBid + m.fromSpread },
      bbb: { bid: m.toBid, ask: m.toBid + m.toSpread },
    },
    fees: {
      one: { native: from, units: { 'aaa@one': m.fromFee } },
      two: { native: to, units: { 'bbb@two': m.toFee } },
    },
    reserves: { 'aaa@one': null, 'bbb@two': m.reserve },
  })
  return { made, pair: { from, to, flow: m.flow, partnerFeeBps: m.partnerFeeBps } }
}

/**
 * At most as many draws as accepted cases may have a reserve that is too small for any exchange. With more, or if every draw
 * is refused, fast-check fails the property.
 */
const settings = { numRuns: 3_000, maxSkipsPerRun: 1 } as const

/** The pricing of a random market. Rejects the draw if its reserve is too small for any exchange. */
function priceMarket(m: Market) {
  const { made, pair } = arrange(m)
  try {
    return pricePair(made, pair, NOW)
  } catch (error) {
    expect(error).toEqual(code('INSUFFICIENT_LIQUIDITY'))
    expect(m.reserve).not.toBeNull()
    fc.pre(false)
    throw error
  }
}

describe('quoteUnits', () => {
  it('deducts spread, partner fee and network fee, in this order', () => {
    const result = quote(book, { ...request, fromUnits: 100_000_000n, partnerFeeBps: 50 })
    // gross 99980.001999; service 0.4 % = 399.920008 (up); partner 0.5 % of the rest = 497.900410 (up);
    // network 0.00065 ETH × 4001 ÷ 0.9999 = 2.600911 (up).
    expect(result.fees).toEqual({
      serviceUnits: 399_920_008n,
      partnerUnits: 497_900_410n,
      networkUnits: 2_600_911n,
      payoutUnits: 2_600_911n,
    })
    expect(result.toUnits).toBe(99_980_001_999n - 399_920_008n - 497_900_410n - 2_600_911n)
    expect(result.fromUsd).toBe(100_000n * 10n ** 12n)
    expect(result.withinBounds).toBe(true)
  })

  // M20: it was sold and bought at a price that was wrong, or about to fall further.
  it('M20: quotes no stablecoin that is more than 2 % away from one dollar', () => {
    const at = (usd: string) => makeBook({ ...bookParts, prices: { ...bookParts.prices, usdt: price(usd, usd) } })
    const euro = makeCurrency('eurc', 'eth', { decimals: 6, contract: '0xeurc', assetClass: 'stable' })
    for (const usd of ['0.979', '1.021', '0.5'])
      for (const [from, to] of [
        [btc, usdt],
        [usdt, btc],
      ] as const)
        expect(() => pricePair(at(usd), { ...request, from, to }, NOW)).toThrowError(code('RATES_UNAVAILABLE'))
    for (const usd of ['0.981', '1.019']) expect(pricePair(at(usd), request, NOW)).toBeDefined()
    // Another currency's peg is not the dollar.
    const fees = { ...bookParts.fees, eth: { native: eth, units: { ...bookParts.fees['eth']?.units, 'eurc@eth': 1n } } }
    const prices = { ...bookParts.prices, eurc: price('1.17', '1.18') }
    const reserves = { ...bookParts.reserves, 'eurc@eth': 10n ** 12n }
    expect(pricePair(makeBook({ prices, fees, reserves }), { ...request, to: euro }, NOW)).toBeDefined()
    // A wider band is a setting.
    expect(pricePair({ ...at('0.96'), stableBandPercent: 5 }, request, NOW)).toBeDefined()
  })

  it('charges the spread of the worse class, and more for a fixed rate', () => {
    const service = (from: typeof btc, to: typeof btc, flow: Flow) => {
      const { serviceUnits, partnerUnits, networkUnits } = quote(book, {
        ...request,
        from,
        to,
        flow,
        fromUnits: 10n ** 12n,
      }).fees
      expect(partnerUnits).toBe(0n)
      return { serviceUnits, networkUnits }
    }
    const gross = (from: typeof btc, to: typeof btc) =>
      convert(10n ** 12n, from.definition, to.definition, book.prices, 'give', 'down')
    expect(service(btc, usdt, 'standard').serviceUnits).toBe(roundUp([gross(btc, usdt) * 40n, 10_000n]))
    expect(service(btc, usdt, 'fixed-rate').serviceUnits).toBe(roundUp([gross(btc, usdt) * 90n, 10_000n]))
    const minor = service(btc, shib, 'standard').serviceUnits
    const rounding = gross(btc, shib) / 10n ** 14n
    expect(minor - roundUp([gross(btc, shib) * 80n, 10_000n])).toBeLessThanOrEqual(rounding)
  })

  it('equals exact fractions, and fees and output add up', () => {
    fc.assert(
      fc.property(market, fc.bigInt({ min: 1n, max: 10n ** 30n }), (m, amount) => {
        const pricing = priceMarket({ ...m, reserve: null })
        const result = quoteUnits(pricing, amount)
        const fromUnits = cut15(amount)
        expect(result.fromUnits).toBe(fromUnits)
        const coinsIn: Fraction = [fromUnits, 10n ** BigInt(m.fromDecimals)]
        const coinsOut = over(times(coinsIn, [m.fromBid, 1n]), [m.toBid + m.toSpread, 1n])
        const gross = roundDown(times(coinsOut, [10n ** BigInt(m.toDecimals), 1n]))
        const bps = { stable: 10n, major: 40n, minor: 80n }
        const worse = [bps[m.classes[0]], bps[m.classes[1]]].sort((a, b) => (a > b ? -1 : 1))[0] ?? 0n
        const service = roundUp([gross * (m.flow === 'standard' ? worse : worse + 50n), 10_000n])
        const partner = roundUp([(gross - service) * BigInt(m.partnerFeeBps), 10_000n])
        const left = gross - service - partner
        expect(result.toUnits).toBe(left > m.toFee ? cut15(left - m.toFee) : 0n)
        expect(result.fees.partnerUnits).toBe(partner)
        const { serviceUnits, partnerUnits, networkUnits } = result.fees
        expect(result.toUnits + serviceUnits + partnerUnits + networkUnits).toBe(gross)
        expect(serviceUnits).toBeGreaterThanOrEqual(service)
      }),
      settings,
    )
  })

  it('never pays more than the received value at the reference rate (I-23)', () => {
    fc.assert(
      fc.property(market, fc.bigInt({ min: 1n, max: 10n ** 32n }), (m, amount) => {
        const pricing = priceMarket(m)
        const { fromUnits, toUnits } = quoteUnits(pricing, amount)
        const received = fromUnits * m.fromBid * 10n ** BigInt(m.toDecimals)
        const paid = toUnits * (m.toBid + m.toSpread) * 10n ** BigInt(m.fromDecimals)
        expect(paid).toBeLessThanOrEqual(received)
      }),
      settings,
    )
  })

  it('never gives a smaller output for a larger input', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 24n })
    fc.assert(
      fc.property(market, amount, fc.oneof(fc.constant(1n), amount), (m, less, more) => {
        const pricing = priceMarket(m)
        expect(quoteUnits(pricing, less + more).toUnits).toBeGreaterThanOrEqual(quoteUnits(pricing, less).toUnits)
      }),
      settings,
    )
  })

  it('returns amounts of at most 15 digits, which are exact as JSON numbers (IEEE 754)', () => {
    fc.assert(
      fc.property(market, fc.bigInt({ min: 1n, max: 10n ** 32n }), (m, amount) => {
        const pricing = priceMarket(m)
        const { fromUnits, toUnits, minUnits, maxUnits, minToUnits, maxToUnits } = quoteUnits(pricing, amount)
        for (const units of [fromUnits, toUnits, minUnits, maxUnits ?? 0n, minToUnits, maxToUnits ?? 0n]) {
          expect(units.toString().replace(/0+$/, '').length).toBeLessThanOrEqual(15)
        }
      }),
      settings,
    )
  })
})

describe('bounds', () => {
  it('cover twice the network fees, and stay within the reserve', () => {
    const pricing = pricePair(book, request, NOW)
    // 2 × 2.600911 USDT is 0.0000522… BTC with the spread; 2 × the refund fee is 0.00003 BTC.
    expect(pricing.minUnits).toBe(5_230n)
    const { maxUnits } = pricing
    expect(quoteUnits(pricing, maxUnits ?? 0n).toUnits).toBeLessThanOrEqual(2_000_000_000_000n)
    expect(afterNetworkFee(pricing, (maxUnits ?? 0n) + 1n)).toBeGreaterThan(2_000_000_000_000n)
  })

  // M4: the quote knew the payout's fee only; the sweep of a token deposit cost the operator more than it earned.
  it('M4: and fees hold the cost of both sides: of the payout, and of bringing the deposit to the hot wallet', () => {
    const ethFees = book.fees.get('eth')
    if (!ethFees) throw new Error('the book has the fees of eth')
    const depositFeeUnits = new Map([['usdt@eth', 400_000_000_000_000n]] as const)
    const withSweep = { ...book, fees: new Map(book.fees).set('eth', { ...ethFees, depositFeeUnits }) }
    const pair = { ...request, from: usdt, to: btc }
    const [before, after] = [pricePair(book, pair, NOW), pricePair(withSweep, pair, NOW)]
    // 0.0004 ETH × 4001 ÷ 99990 = 0.000016005… BTC (up).
    expect([before.networkUnits, after.networkUnits]).toEqual([1_500n, 1_500n + 1_601n])
    // 2 × 0.00003101 BTC at 100010 ÷ 0.9999, with a spread of 0.4 %: 6.228… USDT; three digits, up.
    expect(after.minUnits).toBe(6_230_000n)
    expect(quoteUnits(after, after.minUnits).toUnits).toBeGreaterThanOrEqual(3_101n)
    // A refund pays no sweep.
    expect(payoutFeeIn(withSweep, btc, NOW)).toBe(1_500n)
  })

  it('leave the network fee of a native currency in its reserve', () => {
    const pricing = pricePair(book, { ...request, from: usdt, to: btc }, NOW)
    expect(quoteUnits(pricing, pricing.maxUnits ?? 0n).toUnits + 1_500n).toBeLessThanOrEqual(500_000_000n)
    expect(pricing.availableUnits).toBe(500_000_000n - 1_500n)
  })

  it('hold for every market: min pays, the reserve covers max, both are within bounds', () => {
    fc.assert(
      fc.property(market, (m) => {
        const pricing = priceMarket(m)
        const { minUnits, maxUnits, networkUnits } = pricing
        const atMin = quoteUnits(pricing, minUnits)
        expect(atMin.withinBounds).toBe(true)
        expect(atMin.toUnits).toBeGreaterThan(0n)
        expect(atMin.toUnits).toBeGreaterThanOrEqual(cut15(networkUnits))
        expect(minUnits).toBeGreaterThanOrEqual(2n * m.fromFee)
        expect(maxUnits === null).toBe(m.reserve === null)
        fc.pre(m.reserve !== null)
        const atMax = quoteUnits(pricing, maxUnits ?? 0n)
        expect(atMax.withinBounds).toBe(true)
        expect(atMax.toUnits + m.toFee).toBeLessThanOrEqual(m.reserve)
      }),
      settings,
    )
  })

  it('are exact inverses', () => {
    fc.assert(
      fc.property(market, fc.bigInt({ min: 1n, max: 10n ** 24n }), (m, toUnits) => {
        const pricing = priceMarket({ ...m, reserve: null })
        const min = minInputFor(pricing, toUnits)
        expect(afterNetworkFee(pricing, min)).toBeGreaterThanOrEqual(toUnits)
        expect(afterNetworkFee(pricing, min - 1n)).toBeLessThan(toUnits)
        const max = maxInputFor(pricing, toUnits)
        expect(afterNetworkFee(pricing, max)).toBeLessThanOrEqual(toUnits)
        expect(afterNetworkFee(pricing, max + 1n)).toBeGreaterThan(toUnits)
      }),
      { ...settings, numRuns: 2_000 },
    )
  })

  it('are in a quote that is out of bounds', () => {
    const low = quote(book, { ...request, fromUnits: 1n })
    expect(low).toMatchObject({ withinBounds: false, toUnits: 0n, minUnits: 5_230n })
    const high = quote(book, { ...request, fromUnits: 10n ** 14n })
    expect(high.withinBounds).toBe(false)
  })

  it('respect the dust limit of the target', () => {
    const cheap = makeBook({
      ...bookParts,
      fees: { ...bookParts.fees, btc: { native: btc, units: { 'btc@btc': 1n } } },
    })
    const pricing = pricePair(cheap, { ...request, from: usdt, to: btc }, NOW)
    expect(quoteUnits(pricing, pricing.minUnits).toUnits).toBeGreaterThanOrEqual(546n)
  })
})

describe('quotedInputFor', () => {
  it('is the smallest input that a quote can state for an output, and states it exactly', () => {
    fc.assert(
      fc.property(market, fc.bigInt({ min: 1n, max: 10n ** 30n }), (m, requested) => {
        const pricing = priceMarket({ ...m, reserve: null })
        const input = quotedInputFor(pricing, requested)
        expect(input).toBe(cut15(input))
        expect(quoteUnits(pricing, input).fromUnits).toBe(input)
        expect(quoteUnits(pricing, input).toUnits).toBeGreaterThanOrEqual(requested)
        if (input > 1n) expect(quoteUnits(pricing, input - 1n).toUnits).toBeLessThan(requested)
      }),
      settings,
    )
  })

  it('adds every fee, by hand', () => {
    // 0.3 % and 0.5 % of fees in front of 1000 USDT and 2.600911 USDT of network costs, at 99980.001999 USDT per BTC:
    // 1002.600911 ÷ 0.995 ÷ 0.996 ÷ 99980.00199980002 = 0.010118930… BTC, rounded up.
    const pricing = pricePair(book, { ...request, partnerFeeBps: 50 }, NOW)
    const exact = 1002.600911 / 0.995 / 0.996 / 99980.0019998
    expect(quotedInputFor(pricing, 1_000_000_000n)).toBe(BigInt(Math.ceil(exact * 1e8)))
  })
})

describe('payoutFeeIn', () => {
  it('returns the fee in the currency itself, at a price that covers it', () => {
    expect(payoutFeeIn(book, btc, NOW)).toBe(1_500n)
    // 0.00065 ETH × 4001 ÷ 0.9999 = 2.600910…, rounded up.
    expect(payoutFeeIn(book, usdt, NOW)).toBe(2_600_911n)
  })

  it('needs prices only for tokens, and always a fee rate', () => {
    expect(payoutFeeIn(book, btc, NOW + 60_000)).toBe(1_500n)
    expect(() => payoutFeeIn(book, usdt, NOW + 60_000)).toThrow(code('RATES_UNAVAILABLE'))
    expect(() => payoutFeeIn(book, btc, NOW + 120_001)).toThrow(code('NETWORK_UNAVAILABLE'))
  })
})

describe('M3: the maximum of a fixed rate', () => {
  const of = (heldUnits: bigint, own: bigint) => {
    const stock = { freeUnits: 500_000_000n, heldUnits, heldByPartner: new Map([['p', own]]) }
    const { reserves } = book
    return { ...book, reserves: { ...reserves, fixed: new Map([['btc@btc' as const, stock]]) } }
  }
  const pair = { from: usdt, to: btc, flow: 'fixed-rate', partnerFeeBps: 0, partnerId: 'p' } as const

  it("is what is left of the partner's 33 % of 30 % of the free reserve", () => {
    // 30 % of 5 BTC are 1.5; 33 % of that are 0.495.
    expect(pricePair(of(0n, 0n), pair, NOW).availableUnits).toBe(49_500_000n)
    expect(pricePair(of(20_000_000n, 20_000_000n), pair, NOW).availableUnits).toBe(29_500_000n)
    expect(pricePair(of(140_000_000n, 0n), pair, NOW).availableUnits).toBe(10_000_000n)
    expect(() => pricePair(of(150_000_000n, 0n), pair, NOW)).toThrow(code('INSUFFICIENT_LIQUIDITY'))
  })

  it('does not limit floating rates', () => {
    const floating = { ...pair, flow: 'standard' } as const
    expect(pricePair(of(150_000_000n, 0n), floating, NOW).availableUnits).toBe(499_998_500n)
  })
})

describe('a direction that cannot be exchanged', () => {
  const at =
    (now: number, changed = book) =>
    () =>
      quote(changed, { ...request, now, fromUnits: 1_000_000n })
  const paused = (networks: string[], assets: `${string}@${string}`[]) => ({
    ...book,
    pauses: { networks: new Set(networks), assets: new Set(assets) },
  })

  it('throws the reason', () => {
    expect(() => quote(book, { ...request, to: btc, fromUnits: 1n })).toThrow(code('SAME_CURRENCY'))
    const closed = makeCurrency('usdt', 'eth', { enabled: false })
    expect(() => quote(book, { ...request, to: closed, fromUnits: 1n })).toThrow(code('PAIR_UNAVAILABLE'))
    expect(() => quote(book, { ...request, to: shib, flow: 'fixed-rate', fromUnits: 1n })).toThrow(
      code('FIXED_RATE_UNSUPPORTED'),
    )
    expect(at(NOW, paused(['eth'], []))).toThrow(code('NETWORK_PAUSED'))
    expect(at(NOW, paused([], ['btc@btc']))).toThrow(code('PAIR_UNAVAILABLE'))
    expect(at(NOW, makeBook({ ...bookParts, reserves: {} }))).toThrow(code('INSUFFICIENT_LIQUIDITY'))
    expect(at(NOW, makeBook({ ...bookParts, fees: {} }))).toThrow(code('NETWORK_UNAVAILABLE'))
    expect(at(NOW, makeBook({ ...bookParts, prices: {} }))).toThrow(code('RATES_UNAVAILABLE'))
  })

  it('never uses prices older than 30 s (I-30)', () => {
    expect(at(NOW + 30_000)).not.toThrow()
    expect(at(NOW + 30_001)).toThrow(code('RATES_UNAVAILABLE'))
    expect(pricePair(book, request, NOW).goodUntil).toBe(NOW + 30_000)
  })

  it('gives no fixed rate from prices older than the limit of fixed rates', () => {
    const fixed = (now: number) => () => quote(book, { ...request, flow: 'fixed-rate', now, fromUnits: 1_000_000n })
    expect(fixed(NOW + 5_000)).not.toThrow()
    expect(fixed(NOW + 5_001)).toThrow(code('RATES_UNAVAILABLE'))
    expect(pricePair(book, { ...request, flow: 'fixed-rate' }, NOW).goodUntil).toBe(NOW + 5_000)
  })

  it('has the age of the oldest price that it needs: both sides, and the fees of their networks', () => {
    const aged = (ages: Readonly<Record<string, number>>) => ({
      ...book,
      prices: {
        ...book.prices,
        times: new Map([...book.prices.times].map(([key, time]) => [key, time - (ages[key] ?? 0)])),
      },
    })
    const price = (pair: Partial<typeof request>, ages: Readonly<Record<string, number>>) =>
      pricePair(aged(ages), { ...request, ...pair }, NOW)
    // Neither SHIB nor USDT is needed for BTC to ETH.
    expect(price({ from: btc, to: eth }, { shib: 90_000, usdt: 90_000, btc: 7_000, eth: 9_000 }).goodUntil).toBe(
      NOW + 21_000,
    )
    for (const key of ['btc', 'usdt', 'eth']) {
      const needed = { from: btc, to: usdt }
      expect(price(needed, { [key]: 30_000 }).goodUntil).toBe(NOW)
      expect(() => price(needed, { [key]: 30_001 })).toThrow(
        expect.objectContaining({ code: 'RATES_UNAVAILABLE', message: expect.stringContaining(key.toUpperCase()) }),
      )
      expect(price({ ...needed, flow: 'fixed-rate' }, { [key]: 5_000 }).goodUntil).toBe(NOW)
      expect(() => price({ ...needed, flow: 'fixed-rate' }, { [key]: 5_001 })).toThrow(code('RATES_UNAVAILABLE'))
    }
    expect(price({ from: btc, to: eth, flow: 'fixed-rate' }, { usdt: 5_001 }).goodUntil).toBe(NOW + 5_000)
    // A price without a time is too old.
    expect(() => pricePair({ ...book, prices: { ...book.prices, times: new Map() } }, request, NOW)).toThrow(
      code('RATES_UNAVAILABLE'),
    )
  })

  it('promises no larger payout than the limits of payouts allow, except to an accepted deposit', () => {
    const limited = { ...book, reserves: { ...book.reserves, promised: new Map([[eth.asset.id, 10n ** 18n]]) } }
    const pair: typeof request = { ...request, from: btc, to: eth }
    expect(pricePair(book, pair, NOW).availableUnits).toBe(100n * 10n ** 18n - 210_000_000_000_000n)
    const promised = pricePair(limited, pair, NOW)
    expect(promised.availableUnits).toBe(10n ** 18n)
    expect(payoutUnits(promised, promised.maxUnits ?? 0n)).toBeLessThanOrEqual(10n ** 18n)
    expect(pricePair(limited, { ...pair, isAccepted: true }, NOW).maxUnits).toBe(pricePair(book, pair, NOW).maxUnits)
    // Without a price nothing is promised.
    expect(() => pricePair(limited, { ...pair, to: usdt }, NOW)).toThrow(code('INSUFFICIENT_LIQUIDITY'))
  })

  it('throws if the gas for a token is missing', () => {
    const dry = makeBook({ ...bookParts, reserves: { ...bookParts.reserves, 'eth@eth': 649_999_999_999_999n } })
    expect(at(NOW, dry)).toThrow(code('INSUFFICIENT_LIQUIDITY'))
    expect(() => quote(dry, { ...request, from: usdt, to: btc, fromUnits: 10_000_000n })).not.toThrow()
  })
})
