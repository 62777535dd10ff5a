import type { Http } from '../../lib/http.ts'
import { readDecimalUsd } from './decimal.ts'

const TIMEOUT_MS = 1_000

/**
 * Prices that `POST /sandbox/prices` fixed, in US dollars × 10^12 by price key, from the control server of the sandbox's
 * chains. All servers of these chains read the same ones. Without an answer the last ones stay.
 */
export function createFixedPriceReader(controlUrl: string, http: Http): () => Promise<ReadonlyMap<string, bigint>> {
  const url = new URL('/prices', controlUrl).href
  let fixed: ReadonlyMap<string, bigint> = new Map()
  return async () => {
    const answer = await http.call({ url, timeoutMs: TIMEOUT_MS })
    if (answer.kind === 'answer' && answer.status === 200) fixed = parse(answer.body)
    return fixed
  }
}

function parse(body: Buffer): ReadonlyMap<string, bigint> {
  const { usd } = JSON.parse(body.toString('utf8')) as { usd: Readonly<Record<string, string>> }
  return new Map(
    Object.entries(usd).flatMap(([key, text]) => {
      const units = readDecimalUsd(text)
      return units === null ? [] : [[key, units] as const]
    }),
  )
}
