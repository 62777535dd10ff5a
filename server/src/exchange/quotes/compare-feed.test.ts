import { afterEach, describe, expect, it } from 'vitest'
import type { AssetId } from '../../core/domain/asset.ts'
import { emptyBook } from '../../core/domain/book.ts'
import { AppError } from '../../core/domain/errors.ts'
import { bookParts, btc, book as current, eth, makeBook, NOW, price, usdt } from '../domain/pricing.fixture.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { createCompareFeed } from './compare-feed.ts'
import { createRatesFeed, type RatesFeed } from './rates-feed.ts'

const codes = new Map<AssetId, string>([
  ['btc@btc', 'BTC'],
  ['eth@eth', 'ETH'],
  ['usdt@eth', 'USDT&CO'],
])
const opened: RatesFeed[] = []
afterEach(() => {
  for (const feed of opened.splice(0)) feed.close()
})

/** A feed that renders on request only, whose document the test may alter; alarms in a map. */
async function start(initial = current) {
  const books = createBookSnapshot(initial)
  const alarms = new Map<string, { alarm: string; detail: Record<string, unknown> }>()
  const results: string[] = []
  const whileRaising = { work: async () => {} }
  const served = { alter: (xml: string) => xml }
  const currencies = [btc, eth, usdt]
  const now = () => NOW
  const feed = createRatesFeed({ currencies, codes, books, now, intervalMs: 3_600_000, onError: fail })
  opened.push(feed)
  await feed.render()
  const draws: number[] = []
  let next = 0
  const compareFeed = createCompareFeed({
    feed: {
      source: feed.source,
      ratesFeed: () => {
        const { xml, ...rest } = feed.ratesFeed()
        return { ...rest, xml: Buffer.from(served.alter(xml.toString())) }
      },
    },
    books,
    currencies,
    codes,
    alarms: {
      raise: async (subject, alarm, detail) => {
        alarms.set(subject, { alarm, detail })
        await whileRaising.work()
      },
      clear: async (...subjects) => {
        for (const subject of subjects) alarms.delete(subject)
      },
      clearOthers: async (prefix) => {
        for (const subject of alarms.keys()) if (subject.startsWith(prefix)) alarms.delete(subject)
      },
    },
    toleranceBps: 50,
    now,
    draw: (below) => {
      draws.push(below)
      return next++ % below
    },
    onCompared: (result) => results.push(result),
  })
  return { books, feed, alarms, results, served, draws, whileRaising, compareFeed }
}
function fail(error: unknown): never {
  throw error
}

/** The book with another bid and ask of bitcoin, in dollars. */
const withBitcoinAt = (bid: string, ask: string) =>
  makeBook({ ...bookParts, prices: { ...bookParts.prices, btc: price(bid, ask) } }).prices

/** Bid and ask of bitcoin in dollars, as so many ten-thousandths of what they are. */
function bitcoinAt(share: bigint): [bid: string, ask: string] {
  const { bid } = current.prices.usd.get('btc') ?? fail(new Error('no price'))
  const dollars = (bid * share) / 10_000n / 10n ** 12n
  return [`${dollars}`, `${dollars + 1n}`]
}

/** Multiplies the `out` of one direction. */
const raiseOut = (from: string, to: string, factor: number) => (xml: string) =>
  xml.replace(
    new RegExp(`(<from>${from}</from><to>${to}</to><in>1</in><out>)([^<]*)`),
    (_, before: string, out: string) => `${before}${(Number(out) * factor).toFixed(8)}`,
  )

describe('the comparison of the rates feed with creates (I-30)', () => {
  it('passes for every direction of the served document', async () => {
    const { compareFeed, results, alarms, draws } = await start()
    for (let turn = 0; turn < 6; turn++) await compareFeed()
    expect(results).toEqual(Array(6).fill('paid'))
    // All six directions can be drawn, also that with an escaped code.
    expect(draws).toEqual(Array(6).fill(6))
    expect(alarms.size).toBe(0)
  })

  // The second is less than the tolerance: with the prices of the feed nothing may be missing.
  it.each([1.01, 1.000_01])(
    'raises an alarm at the second failure, and ends it when the direction is paid: %d',
    async (factor) => {
      const { compareFeed, served, alarms, results } = await start()
      const { alter } = served
      served.alter = raiseOut('BTC', 'ETH', factor)
      await compareFeed()
      expect(results).toEqual(['worse'])
      expect(alarms.size).toBe(0)
      await compareFeed()
      expect([...alarms]).toEqual([
        ['feed:btc@btc eth@eth', expect.objectContaining({ alarm: expect.stringContaining('better rate') })],
      ])
      served.alter = alter
      await compareFeed()
      expect(alarms.size).toBe(0)
    },
  )

  it('accepts a price that moved by less than the last look permits, and one rendering more', async () => {
    const { compareFeed, books, feed, alarms, results } = await start()
    books.replace({ prices: withBitcoinAt(...bitcoinAt(9_960n)) })
    await compareFeed()
    expect(results).toEqual(['paid'])
    books.replace({ prices: withBitcoinAt(...bitcoinAt(9_900n)) })
    await compareFeed()
    await compareFeed()
    expect(results.slice(1)).toContain('worse')
    await feed.render()
    for (let turn = 0; turn < 6; turn++) await compareFeed()
    expect(alarms.size).toBe(0)
    expect(results.slice(-6)).toEqual(Array(6).fill('paid'))
  })

  it('compares all directions of a turn with the prices of the same rendering', async () => {
    const { compareFeed, books, feed, results, served, whileRaising } = await start()
    served.alter = raiseOut('BTC', 'ETH', 1.01)
    await compareFeed()
    // Between the two comparisons of the next turn, bitcoin is rendered at a price that is lower by 0.3 %.
    whileRaising.work = async () => {
      books.replace({ prices: withBitcoinAt(...bitcoinAt(9_970n)) })
      await feed.render()
    }
    await compareFeed()
    expect(results).toEqual(['worse', 'worse', 'paid'])
  })

  it('names a direction that cannot be exchanged, until the feed no longer has it', async () => {
    const { compareFeed, books, feed, alarms } = await start()
    const { reserves } = current
    books.replace({ prices: { ...current.prices, times: new Map([['btc', NOW - 40_000]]) } })
    books.replace({ reserves })
    await compareFeed()
    await compareFeed()
    expect([...alarms.values()][0]).toMatchObject({
      alarm: expect.stringContaining('cannot be exchanged'),
      detail: { code: expect.any(String), reason: expect.any(String) },
    })
    await feed.render()
    await compareFeed()
    expect(alarms.size).toBe(0)
  })

  it('compares nothing while no feed is served, and ends the alarms of a process that has ended', async () => {
    const { compareFeed, alarms, results } = await start(emptyBook(current.spreads))
    alarms.set('feed:btc@btc eth@eth', { alarm: '', detail: {} })
    await compareFeed()
    expect(results).toEqual([])
    expect(alarms.size).toBe(0)
  })

  it('passes on errors that are none of the feed', async () => {
    const { compareFeed, served } = await start()
    served.alter = () => fail(new Error('defect'))
    await expect(compareFeed()).rejects.toThrow('defect')
    served.alter = () => fail(new AppError('RATES_UNAVAILABLE', 'no feed'))
    await expect(compareFeed()).resolves.toBeUndefined()
  })
})
