import { AppError } from '../../core/domain/errors.ts'
import type { Http } from '../../lib/http.ts'
import { isRecord } from '../../lib/is-record.ts'
import { readDecimalUsd } from './decimal.ts'
import type { PriceSource, SourcePrice } from './price-source.ts'

const TIMEOUT_MS = 4_000
const REPLY_BYTES_MAX = 256 * 1024
const KEYS_MAX = 1_000

type Options = Readonly<{ http: Http; headers?: Readonly<Record<string, string>> }>

/**
 * Reads the operator's price document by HTTP: `{"at": 1790000000000, "usd": {"btc": {"bid": "64000.1", "ask": "64010"}}}`,
 * `at` in milliseconds since 1970, prices in US dollars per whole unit as decimal text. Malformed prices are omitted; the
 * median of the sources decides whether enough prices remain.
 */
export function createDocumentSource(url: string, { http, headers = {} }: Options): PriceSource {
  return {
    id: new URL(url).host,
    async read() {
      const answer = await http.call({ url, headers, timeoutMs: TIMEOUT_MS, replyBytesMax: REPLY_BYTES_MAX })
      if (answer.kind === 'unknown' || answer.status !== 200) {
        throw new AppError('RATES_UNAVAILABLE', 'a price source does not answer', {
          cause: new Error(answer.kind === 'unknown' ? answer.reason : `status ${answer.status}`),
        })
      }
      return parse(answer.body)
    },
  }
}

function parse(body: Buffer): readonly SourcePrice[] {
  let document: unknown
  try {
    document = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('RATES_UNAVAILABLE', 'a price source returned a reply that is not JSON', { cause })
  }
  const at = isRecord(document) ? document['at'] : undefined
  if (!isRecord(document) || typeof at !== 'number' || !Number.isSafeInteger(at) || !isRecord(document['usd'])) {
    throw new AppError('RATES_UNAVAILABLE', 'a price source returned JSON of an unexpected shape')
  }
  return Object.entries(document['usd'])
    .slice(0, KEYS_MAX)
    .flatMap(([priceKey, value]): SourcePrice[] => {
      const bid = isRecord(value) ? readDecimalUsd(value['bid']) : null
      const ask = isRecord(value) ? readDecimalUsd(value['ask']) : null
      return bid === null || ask === null ? [] : [{ priceKey, quoteCurrency: 'usd', at, price: { bid, ask } }]
    })
}
