import { AppError } from '../../core/domain/errors.ts'
import { type Price, USD_DECIMALS } from '../../core/domain/price.ts'
import type { Prices } from '../../core/ports/prices.ts'
import type { Http } from '../../lib/http.ts'

const TIMEOUT_MS = 4_000
const REPLY_BYTES_MAX = 256 * 1024
const KEYS_MAX = 1_000
const DECIMAL = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,12}))?$/

/**
 * Reads the operator's price document by HTTP: `{"at": 1790000000000, "usd": {"btc": {"bid": "64000.1", "ask": "64010"}}}`,
 * `at` in milliseconds since 1970, prices in US dollars per whole unit as decimal text. Malformed prices are omitted; the
 * median of the sources decides whether enough prices remain.
 */
export function createHttpPrices(url: string, http: Http): Prices {
  return {
    async read() {
      const answer = await http.call({ url, timeoutMs: TIMEOUT_MS, replyBytesMax: REPLY_BYTES_MAX })
      if (answer.kind === 'unknown' || answer.status !== 200) {
        throw new AppError('RATES_UNAVAILABLE', 'a price source does not answer', {
          cause: answer.kind === 'unknown' ? answer.cause : `status ${answer.status}`,
        })
      }
      return parse(answer.body)
    },
  }
}

function parse(body: Buffer): { at: number; usd: ReadonlyMap<string, Price> } {
  let document: unknown
  try {
    document = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('RATES_UNAVAILABLE', 'a price source returned a reply that is not JSON', { cause })
  }
  if (
    !isRecord(document) ||
    typeof document['at'] !== 'number' ||
    !Number.isSafeInteger(document['at']) ||
    !isRecord(document['usd'])
  ) {
    throw new AppError('RATES_UNAVAILABLE', 'a price source returned JSON of an unexpected shape')
  }
  const usd = new Map<string, Price>()
  for (const [key, value] of Object.entries(document['usd']).slice(0, KEYS_MAX)) {
    const bid = isRecord(value) ? readDecimalUsd(value['bid']) : null
    const ask = isRecord(value) ? readDecimalUsd(value['ask']) : null
    if (bid !== null && ask !== null) usd.set(key, { bid, ask })
  }
  return { at: document['at'], usd }
}

/** Decimal US dollars × 10^12; null if the text is malformed. */
export function readDecimalUsd(text: unknown): bigint | null {
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null
  return match ? BigInt((match[1] ?? '') + (match[2] ?? '').padEnd(USD_DECIMALS, '0')) : null
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
