import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, expect, it, vi } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import { emptyBook } from '../../core/domain/book.ts'
import { bookParts, btc, book as current, eth, makeBook, NOW, usdt } from '../domain/pricing.fixture.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { createRatesFeed, type RatesFeed } from './rates-feed.ts'

const codes = new Map<AssetId, string>([
  ['btc@btc', 'BTC'],
  ['eth@eth', 'ETH'],
  ['usdt@eth', 'USDTERC20'],
])
const opened: RatesFeed[] = []
afterEach(() => {
  for (const feed of opened.splice(0)) feed.close()
})

function start(initial = current, intervalMs = 10) {
  const books = createBookSnapshot(initial)
  const time = { now: NOW }
  const errors: unknown[] = []
  const feed = createRatesFeed({
    currencies: [btc, eth, usdt],
    codes,
    books,
    now: () => time.now,
    intervalMs,
    onError: (error) => errors.push(error),
  })
  opened.push(feed)
  return { books, time, feed, errors }
}
const unavailable = expect.objectContaining({ code: 'RATES_UNAVAILABLE' })

it('serves one document in three encodings, with its digest as ETag', async () => {
  const { feed } = start()
  await feed.render()
  const { xml, gzip, brotli, etag, lastModified } = feed.ratesFeed()
  expect(xml.toString().match(/<item>/g)).toHaveLength(6)
  expect(gunzipSync(gzip).equals(xml)).toBe(true)
  expect(brotliDecompressSync(brotli).equals(xml)).toBe(true)
  expect(etag).toBe(`"${createHash('sha256').update(xml).digest('base64url')}"`)
  expect(lastModified).toEqual(new Date(NOW))
  expect(feed.ratesFeed().xml).toBe(xml)
})

it('renders after the first book and after each change', async () => {
  const { feed, books, errors } = start(emptyBook(current.spreads))
  expect(() => feed.ratesFeed()).toThrow(unavailable)
  books.replace(current)
  const first = await vi.waitFor(() => feed.ratesFeed(), PATIENCE)
  const cheaper = { ...bookParts.prices, btc: { bid: 10n ** 16n, ask: 10n ** 16n } }
  books.replace({ prices: makeBook({ ...bookParts, prices: cheaper }).prices })
  await vi.waitFor(() => expect(feed.ratesFeed().etag).not.toBe(first.etag), PATIENCE)
  expect(errors).toEqual([])
})

it('renders pauses and reserves that end or return before the interval has passed', async () => {
  const { feed, books } = start(current, 3_600_000)
  await feed.render()
  const lists = () => feed.lists('btc@btc', 'eth@eth')
  books.replace({ pauses: { networks: new Set(), assets: new Set(['eth@eth']) } })
  await vi.waitFor(() => expect(lists()).toBe(false), PATIENCE)
  books.replace({ pauses: { networks: new Set(), assets: new Set() } })
  await vi.waitFor(() => expect(lists()).toBe(true), PATIENCE)
  books.replace({ reserves: { ...current.reserves, available: new Map([['eth@eth', 0n]]) } })
  await vi.waitFor(() => expect(lists()).toBe(false), PATIENCE)
  books.replace({ reserves: current.reserves })
  await vi.waitFor(() => expect(lists()).toBe(true), PATIENCE)
})

it('keeps ETag and date while the figures are unchanged', async () => {
  const { feed, books, time } = start()
  await feed.render()
  const first = feed.ratesFeed()
  time.now += 20_000
  books.replace(makeBook({ ...bookParts, at: time.now }))
  await feed.render()
  expect(feed.ratesFeed()).toBe(first)
  // The same figures, read again, stay valid longer.
  time.now += 20_000
  expect(feed.ratesFeed()).toBe(first)
})

it('throws RATES_UNAVAILABLE instead of an empty feed, and lists what it has', async () => {
  const { feed, books } = start()
  await feed.render()
  expect([feed.lists('btc@btc', 'eth@eth'), feed.lists('btc@btc', 'btc@btc')]).toEqual([true, false])
  books.replace({ pauses: { networks: new Set(['eth']), assets: new Set() } })
  await feed.render()
  expect(() => feed.ratesFeed()).toThrow(unavailable)
  expect(feed.lists('btc@btc', 'eth@eth')).toBe(false)
  books.replace({ pauses: { networks: new Set(), assets: new Set() } })
  await feed.render()
  expect(feed.ratesFeed().xml.toString()).toContain('<from>BTC</from><to>ETH</to>')
})

it('throws RATES_UNAVAILABLE with prices older than 30 s (I-30)', async () => {
  const { feed, time } = start()
  await feed.render()
  time.now += 30_000
  expect(() => feed.ratesFeed()).not.toThrow()
  time.now += 1
  expect(() => feed.ratesFeed()).toThrow(unavailable)
})

// A payment between the legs of a private exchange changes a reserve by its amount, at its time.
it('is the same document before and after a payment that is smaller than the step of the rounded reserve', async () => {
  const { feed, books } = start()
  const renderWith = async (units: bigint) => {
    books.replace({ reserves: { ...current.reserves, available: new Map([['btc@btc', units]]) } })
    await feed.render()
    return feed.ratesFeed().xml.toString()
  }
  const before = await renderWith(512_345_678n)
  expect(before).toContain('<amount>5.099985</amount>')
  expect(await renderWith(511_111_111n)).toBe(before)
  expect(await renderWith(509_999_999n)).not.toBe(before)
})

/** The book with some prices older than the others. */
const aged = (ages: Readonly<Record<string, number>>) => {
  const { prices } = current
  return { ...prices, times: new Map([...prices.times].map(([key, time]) => [key, time - (ages[key] ?? 0)])) }
}

it('loses the directions of a stale price alone, before the next rendering would be too late (I-30)', async () => {
  const { feed, books, time } = start()
  const directions = () =>
    [...codes.keys()].flatMap((from) =>
      [...codes.keys()].filter((to) => feed.lists(from, to)).map((to) => `${from} ${to}`),
    )
  books.replace({ prices: aged({ btc: 26_001 }) })
  await feed.render()
  expect(directions()).toEqual(['eth@eth usdt@eth', 'usdt@eth eth@eth'])
  time.now += 26_000
  expect(feed.ratesFeed().xml.toString()).not.toContain('BTC')
  time.now = NOW
  books.replace({ prices: aged({ btc: 26_000 }) })
  await feed.render()
  expect(directions()).toHaveLength(6)
  time.now += 4_000
  expect(() => feed.ratesFeed()).not.toThrow()
  time.now += 1
  expect(() => feed.ratesFeed()).toThrow(unavailable)
  await feed.render()
  expect(feed.ratesFeed().xml.toString()).toContain('<from>ETH</from><to>USDTERC20</to>')
  // Without the price of the coin in which a network takes its fees, none of its tokens is listed.
  time.now = NOW
  books.replace({ prices: aged({ eth: 26_001 }) })
  await feed.render()
  expect(() => feed.ratesFeed()).toThrow(unavailable)
})
