import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { AppError } from '../../core/domain/errors.ts'
import type { Http } from '../../lib/http.ts'
import { readDecimal } from './decimal.ts'
import { type Book, type Exchange, excerpt, LIMIT_WAIT_MS, Refusal } from './exchanges/exchange.ts'
import type { PriceSource, SourcePrice } from './price-source.ts'

type Options = Readonly<{
  http: Http
  /** Milliseconds since 1970. */
  now(): number
  /** A mirror or a proxy, in place of the exchange's own URL. */
  url?: string
  /** Sent with each request. */
  headers?: Readonly<Record<string, string>>
  /** A read waits so long for a request before it returns the last prices. */
  graceMs?: number
}>

const TIMEOUT_MS = 4_000
/** Older prices of a pair are left out, so that one quiet pair does not age the prices of all others. */
const PAIR_AGE_MAX_MS = 10_000
/** Longest wait after failures, in which the exchange did not limit us. */
const FAILURE_WAIT_MAX_MS = 30_000
/** Binance blocks addresses for up to three days. */
const LIMIT_WAIT_MAX_MS = 3 * 86_400_000

/**
 * The prices of a public exchange. A read requests new ones if the interval has passed. If the exchange is slow, the read returns
 * the last prices, with their own times, so that it delays no other source. After a failed request every read throws its reason
 * until a request succeeds. An exchange that limits us is not asked before the time that it states.
 */
export function createExchangeSource(id: string, exchange: Exchange, options: Options): PriceSource {
  const { now, graceMs = 500 } = options
  let prices: readonly SourcePrice[] = []
  let failure: AppError | null = null
  let failures = 0
  let requestedAt = Number.NEGATIVE_INFINITY
  let nextAt = Number.NEGATIVE_INFINITY
  let pending: Promise<void> | null = null

  const refresh = async (): Promise<void> => {
    const startedAt = now()
    nextAt = startedAt + exchange.intervalMs
    try {
      prices = toPrices(exchange, await requestBooks(exchange, options), startedAt)
      requestedAt = startedAt
      failure = null
      failures = 0
    } catch (cause) {
      failures += 1
      failure = new AppError('RATES_UNAVAILABLE', 'a price source does not answer', {
        cause: new Error(redact(cause, options.headers)),
      })
      const limitMs = cause instanceof Refusal ? cause.waitMs : null
      const backoffMs = Math.min(exchange.intervalMs * 2 ** (failures - 1), FAILURE_WAIT_MAX_MS)
      nextAt = now() + (limitMs ?? backoffMs)
    } finally {
      pending = null
    }
  }

  return {
    id,
    maxAgeMs: PAIR_AGE_MAX_MS,
    priceKeys: Object.keys(exchange.symbols),
    async read() {
      if (pending === null && now() >= nextAt) pending = refresh()
      const isFirst = failure === null && now() - requestedAt > PAIR_AGE_MAX_MS
      if (pending !== null) await (isFirst ? pending : Promise.race([pending, delay(graceMs, null, { ref: false })]))
      if (failure !== null) throw failure
      return prices
    },
  }
}

/** The message of an error, without header values that a mirror may return in its reply. */
function redact(cause: unknown, headers: Options['headers'] = {}): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  return Object.values(headers).reduce((text, secret) => text.replaceAll(secret, '[secret]'), message)
}

async function requestBooks(exchange: Exchange, options: Options): Promise<ReadonlyMap<string, Book>> {
  const { http, url = exchange.url, headers = {} } = options
  const bytesMax = exchange.replyBytesMax
  const reply = await http.call({
    url,
    headers: { accept: 'application/json', 'accept-encoding': 'gzip', ...headers },
    timeoutMs: TIMEOUT_MS,
    replyBytesMax: bytesMax,
  })
  if (reply.kind === 'unknown') throw new Refusal(reply.reason)
  const isCompressed = reply.headers['content-encoding'] === 'gzip'
  const body = (isCompressed ? await unpack(reply.body, bytesMax) : reply.body).toString('utf8')
  if (reply.status === 429 || reply.status === 418)
    throw new Refusal(`status ${reply.status}`, readRetryAfterMs(reply.headers['retry-after'], options.now()))
  if (reply.status !== 200) throw new Refusal(`status ${reply.status}: ${excerpt(body)}`)
  try {
    return exchange.readBooks(body)
  } catch (cause) {
    throw cause instanceof SyntaxError ? new Refusal('the reply is not JSON') : cause
  }
}

const gunzipAsync = promisify(gunzip)

/** The size after decompression is bounded, too. */
async function unpack(body: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await gunzipAsync(body, { maxOutputLength: bytesMax })
  } catch {
    throw new Refusal('the compressed reply is too long or damaged')
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function readRetryAfterMs(text: string | undefined, now: number): number {
  const ms =
    text === undefined ? Number.NaN : /^\d+$/.test(text) ? Number.parseInt(text, 10) * 1_000 : Date.parse(text) - now
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, LIMIT_WAIT_MAX_MS) : LIMIT_WAIT_MS
}

/** Pairs that are missing or malformed are left out. Bids are rounded down and asks up. */
function toPrices(
  { quoteCurrency, symbols }: Exchange,
  books: ReadonlyMap<string, Book>,
  startedAt: number,
): readonly SourcePrice[] {
  return Object.entries(symbols).flatMap(([priceKey, symbol]) => {
    const book = books.get(symbol)
    const bid = readDecimal(book?.bid, 'down')
    const ask = readDecimal(book?.ask, 'up')
    if (book === undefined || bid === null || ask === null) return []
    return [{ priceKey, quoteCurrency, at: book.at ?? startedAt, price: { bid, ask } }]
  })
}
