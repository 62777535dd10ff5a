import type { Http, HttpCall } from '../../lib/http.ts'
import type { AggregatorTransaction } from '../../swap/ports/aggregator.ts'

/** Routes with all their steps are long. */
const REPLY_BYTES_MAX = 512 * 1024
const UNITS = /^(0|[1-9][0-9]{0,77})$/
const GAS = /^[1-9][0-9]{0,9}$/

/** A member of an answer that may be anything. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let at: unknown = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

/** Base units as text; null for anything else, and for nothing. */
export function unitsOf(value: unknown): bigint | null {
  return typeof value === 'string' && UNITS.test(value) && value !== '0' ? BigInt(value) : null
}

/** Gas, as text or as a number: it only weighs one offer against another. null for what is neither. */
export function gasOf(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && GAS.test(text) ? Number.parseInt(text, 10) : null
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Coins that come with a call: as `unitsOf`, but nothing is said in many ways. */
const coinsOf = (value: unknown): bigint | null =>
  value === undefined || value === null || value === '' || value === '0' || value === '0x0' || value === '0x00'
    ? 0n
    : unitsOf(value)

export type JsonRequest = Readonly<{
  http: Http
  url: string
  query?: Readonly<Record<string, string>>
  /** Posted as JSON. */
  body?: unknown
  headers?: HttpCall['headers']
  timeoutMs: number
}>

/** What was answered with 200, as JSON; undefined for any other outcome. */
export async function requestJson({ http, url, query, body, headers = {}, timeoutMs }: JsonRequest): Promise<unknown> {
  const posted =
    body === undefined
      ? {}
      : { method: 'POST' as const, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await http.call({
    ...posted,
    url: query === undefined ? url : `${url}?${new URLSearchParams(query)}`,
    headers: { accept: 'application/json', ...posted.headers, ...headers },
    timeoutMs,
    replyBytesMax: REPLY_BYTES_MAX,
  })
  if (answer.kind !== 'answer' || answer.status !== 200) return undefined
  try {
    return JSON.parse(answer.body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The transaction that was built, whose target takes the input; null where a part of it is missing. */
export function callOf(
  amountOut: bigint | null,
  parts: Readonly<Record<'target' | 'calldata' | 'value', unknown>>,
): AggregatorTransaction | null {
  const [target, calldata, value] = [textOf(parts.target), textOf(parts.calldata), coinsOf(parts.value)]
  if (amountOut === null || target === null || calldata === null || value === null) return null
  return { amountOut, target, spender: target, value, calldata }
}

/** The same token as asked for: an answer to another question is none. */
export const isToken = (value: unknown, address: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === address
