import { createHash } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Book } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import { renderFeed } from '../domain/feed.ts'
import type { Feed } from '../interfaces.ts'
import type { BookSnapshot } from './book-snapshot.ts'

export type RatesFeed = Readonly<{
  /** The last rendered feed, from memory. Throws RATES_UNAVAILABLE without directions, or if its prices are too old. */
  ratesFeed(): Feed
  /** The book from which the last feed was rendered, and when, in milliseconds since 1970. Null = none yet. */
  source(): FeedBook | null
  /** Whether the last rendered feed has this direction. */
  lists(from: AssetId, to: AssetId): boolean
  /** Renders and compresses the current book. Also runs after each change of the book. */
  render(): Promise<void>
  /** Stops following the book. */
  close(): void
}>

export type FeedBook = Readonly<{ book: Book; at: number }>

/** Of a process that does not serve the feed: it renders nothing, and waits for nothing to be listed. */
export const unservedFeed: RatesFeed = {
  ratesFeed: () => {
    throw new AppError('RATES_UNAVAILABLE', 'this process does not serve the rates feed')
  },
  source: () => null,
  lists: () => true,
  render: async () => undefined,
  close: () => undefined,
}

type Dependencies = Readonly<{
  currencies: readonly Currency[]
  /** Code in the feed by asset. */
  codes: ReadonlyMap<AssetId, string>
  books: BookSnapshot
  /** Milliseconds since 1970. */
  now(): number
  /** Changes of prices, fees and amounts within this time are rendered once. */
  intervalMs?: number
  onError(error: unknown): void
}>

/** `goodUntil`: milliseconds since 1970 after which a source of one of its directions is too old. */
type Rendered = Readonly<{
  feed: Feed
  source: FeedBook
  goodUntil: number
  directions: ReadonlyMap<AssetId, ReadonlySet<AssetId>>
}>

const compressGzip = promisify(gzip)
const compressBrotli = promisify(brotliCompress)
/**
 * A direction whose sources are too old within this time is left out, so that it does not end the feed before the next
 * rendering: twice the interval, because a rendering may start late.
 */
const LEFT_MIN_MS = 4_000
/** Nearly as small as the highest quality, and fast enough for a feed that is compressed every few seconds. */
const BROTLI_QUALITY = 5

export function createRatesFeed(dependencies: Dependencies): RatesFeed {
  const { books, now, intervalMs = 2_000, onError } = dependencies
  let rendered: Rendered | null = null
  let last: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let offered = ''

  /** Renderings run one after another, each with the book that is current when it starts. */
  const render = (): Promise<void> => {
    const next = async (): Promise<void> => {
      rendered = await renderOnce(dependencies, rendered)
    }
    last = last.then(next, next)
    return last
  }

  /** What was just paused must not stay in the feed, and what can be exchanged again must not be missing from it. */
  const schedule = (): void => {
    const before = offered
    offered = summarizeOffer(books.current())
    const isUrgent = rendered === null || offered !== before
    if (isUrgent && timer !== null) {
      clearTimeout(timer)
      timer = null
    }
    timer ??= setTimeout(
      () => {
        timer = null
        render().catch(onError)
      },
      isUrgent ? 0 : intervalMs,
    ).unref()
  }
  const unsubscribe = books.subscribe(schedule)

  return {
    ratesFeed: () => {
      if (rendered === null || now() > rendered.goodUntil) {
        throw new AppError('RATES_UNAVAILABLE', 'the rates feed has no current prices: retry later')
      }
      if (rendered.directions.size === 0)
        throw new AppError(
          'RATES_UNAVAILABLE',
          'the rates feed has no direction that can be exchanged now: retry later',
        )
      return rendered.feed
    },
    source: () => rendered?.source ?? null,
    lists: (from, to) => rendered?.directions.get(from)?.has(to) ?? false,
    render,
    close: () => {
      unsubscribe()
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** The assets with a reserve, and the pauses. */
const summarizeOffer = ({ reserves: { available }, pauses: { networks, assets, payouts } }: Book): string =>
  JSON.stringify([
    [...available].flatMap(([id, units]) => (units === 0n ? [] : [id])),
    [...networks],
    [...assets],
    [...(payouts ?? [])],
  ])

async function renderOnce(dependencies: Dependencies, previous: Rendered | null): Promise<Rendered> {
  const { currencies, codes, books, now } = dependencies
  const book = books.published()
  const startedAt = now()
  const pieces: string[] = []
  const directions = new Map<AssetId, ReadonlySet<AssetId>>()
  let goodUntil = Number.POSITIVE_INFINITY
  for (const piece of renderFeed({ book, currencies, codes, now: startedAt + LEFT_MIN_MS })) {
    const { text, from, targets } = piece
    pieces.push(text)
    goodUntil = Math.min(goodUntil, piece.goodUntil)
    if (from !== null && targets.length > 0) directions.set(from, new Set(targets))
    // A piece takes a fraction of a millisecond. Requests are served in between.
    await yieldToEventLoop()
  }
  const xml = Buffer.from(pieces.join(''), 'utf8')
  const source = { book, at: startedAt }
  const etag = `"${createHash('sha256').update(xml).digest('base64url')}"`
  if (previous?.feed.etag === etag) return { feed: previous.feed, source, goodUntil, directions }
  const [gzipped, brotli] = await Promise.all([
    compressGzip(xml),
    compressBrotli(xml, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: xml.length,
      },
    }),
  ])
  const feed = { xml, gzip: gzipped, brotli, etag, lastModified: new Date(startedAt) }
  return { feed, source, goodUntil, directions }
}
