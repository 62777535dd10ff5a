import { describe, expect, it } from 'vitest'
import type { Partner } from '../../core/domain/partner.ts'
import { bookParts, btc, book as current, eth, makeBook, NOW, price, shib, usdt } from '../domain/pricing.fixture.ts'
import type { RateRequest } from '../interfaces.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { createQuoteRate } from './quote-rate.ts'
import { createRateIds } from './rate-id.ts'

const listed = [btc, eth, usdt, shib]
/** A catalogue without aliases. */
const catalogue = {
  find: (ticker: string, network: string) =>
    listed.find(({ asset }) => asset.ticker === ticker && asset.network === network) ?? null,
}
const partner: Partner = {
  id: 'partner-a',
  name: 'A',
  feeBps: 50,
  suspended: false,
  openExchangesMax: 10,
  rateLimitPerMinute: 100,
  strict: false,
  refundToSender: false,
  defaultRecipients: new Map(),
}
const request: RateRequest = {
  fromCurrency: 'btc',
  fromNetwork: 'btc',
  toCurrency: 'usdt',
  toNetwork: 'eth',
  amount: '1',
  flow: 'standard',
}

function start(offsetMs = 0) {
  const books = createBookSnapshot(current)
  const rateIds = createRateIds(Buffer.alloc(32, 7))
  const time = { now: NOW }
  const clock = { now: () => time.now, databaseNow: () => time.now + offsetMs }
  return { books, rateIds, time, quoteRate: createQuoteRate({ catalogue, books, rateIds, clock, rateIdTtlMs: 60_000 }) }
}

/** Code and problems of a request that must fail. */
function problemsOf(change: Partial<RateRequest>) {
  try {
    start().quoteRate(partner, { ...request, ...change })
  } catch (error) {
    const { code, problems } = error as { code: string; problems: { code: string; field?: string }[] }
    return { code, problems: problems.map((problem) => `${problem.field}: ${problem.code}`) }
  }
  throw new Error('the request did not fail')
}

describe('quoteRate', () => {
  it('quotes net of all fees and binds the quote to a rateId', () => {
    const { quoteRate, rateIds } = start()
    const { quote, rateId, validUntil } = quoteRate(partner, request)
    // As in pricing.test.ts, by hand: 99980.001999 − 399.920008 − 497.900410 − 2.600911.
    expect(quote.toUnits).toBe(99_079_580_670n)
    expect(validUntil).toEqual(new Date(NOW + 60_000))
    const terms = rateIds.read(rateId ?? '', {
      partnerId: 'partner-a',
      fromAssetId: 'btc@btc',
      toAssetId: 'usdt@eth',
      flow: 'standard',
      fromUnits: 100_000_000n,
    })
    expect(terms).toMatchObject({ toUnits: 99_079_580_670n, expiresAt: new Date(NOW + 60_000) })
  })

  it('sets the expiry by the database clock, not the process clock', () => {
    const { validUntil } = start(-600_000).quoteRate(partner, request)
    expect(validUntil).toEqual(new Date(NOW - 600_000 + 60_000))
  })

  it.each([['0.00000001'], ['1000000']])('returns the bounds but no rateId for %s', (amount) => {
    const { quote, rateId, validUntil } = start().quoteRate(partner, { ...request, amount })
    expect({ rateId, validUntil }).toEqual({ rateId: null, validUntil: null })
    expect(quote.withinBounds).toBe(false)
    expect(quote.minUnits).toBeGreaterThan(0n)
    expect(quote.maxUnits).toBeGreaterThan(quote.minUnits)
  })

  it('quotes the first 15 digits of an amount', () => {
    const { quote } = start().quoteRate(partner, {
      ...request,
      fromCurrency: 'eth',
      fromNetwork: 'eth',
      amount: '1.123456789012345678',
    })
    expect(quote.fromUnits).toBe(1_123_456_789_012_340_000n)
  })

  it('reports all problems together', () => {
    expect(problemsOf({ fromCurrency: 'zzz', toNetwork: 'btc', amount: '1e5' })).toEqual({
      code: 'CURRENCY_NOT_FOUND',
      problems: ['fromCurrency: CURRENCY_NOT_FOUND', 'toCurrency: CURRENCY_NOT_FOUND', 'amount: AMOUNT_MALFORMED'],
    })
  })

  // Bad inputs B036 to B043, B047, B049.
  it.each([
    [{ fromCurrency: 'btc', fromNetwork: 'eth' }, 'CURRENCY_NOT_FOUND', 'fromCurrency: CURRENCY_NOT_FOUND'],
    [{ toCurrency: "usdt'--" }, 'CURRENCY_NOT_FOUND', 'toCurrency: CURRENCY_NOT_FOUND'],
    [{ toCurrency: 'btc', toNetwork: 'btc' }, 'SAME_CURRENCY', 'toCurrency: SAME_CURRENCY'],
    [{ amount: '0' }, 'VALIDATION_ERROR', 'amount: VALIDATION_ERROR'],
    [{ amount: '0.00' }, 'VALIDATION_ERROR', 'amount: VALIDATION_ERROR'],
    ...[
      '-1',
      'NaN',
      'Infinity',
      '-0',
      '1e18',
      '1E-8',
      '0x10',
      '1_000',
      '1,5',
      '٣',
      '１',
      '',
      ' 1',
      '+1',
      '.1',
      '1.',
      '9'.repeat(10_000),
    ].map((amount) => [{ amount }, 'AMOUNT_MALFORMED', 'amount: AMOUNT_MALFORMED'] as const),
    [{ amount: '0.000000001' }, 'AMOUNT_PRECISION', 'amount: AMOUNT_PRECISION'],
    [{ toCurrency: 'shib', flow: 'fixed-rate' }, 'FIXED_RATE_UNSUPPORTED', 'flow: FIXED_RATE_UNSUPPORTED'],
  ] as const)('refuses %o', (change, code, problem) => {
    expect(problemsOf(change)).toEqual({ code, problems: [problem] })
  })

  it('uses a new book at once, and rejects an old one (B050)', () => {
    const { quoteRate, books, time } = start()
    const before = quoteRate(partner, request).quote.toUnits
    const higherPrices = {
      ...bookParts.prices,
      btc: price('199980', '300000'),
    }
    books.replace({ prices: makeBook({ ...bookParts, prices: higherPrices }).prices })
    expect(quoteRate(partner, request).quote.toUnits).toBeGreaterThan((before * 19n) / 10n)
    time.now += 30_001
    expect(() => quoteRate(partner, request)).toThrow(expect.objectContaining({ code: 'RATES_UNAVAILABLE' }))
  })

  it('does not mix partners with different fees', () => {
    const { quoteRate } = start()
    const withFee = quoteRate(partner, request).quote.toUnits
    expect(quoteRate({ ...partner, id: 'b', feeBps: 0 }, request).quote.toUnits).toBeGreaterThan(withFee)
    expect(quoteRate(partner, request).quote.toUnits).toBe(withFee)
  })
})
