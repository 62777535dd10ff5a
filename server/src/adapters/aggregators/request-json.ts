import type { Http, HttpCall } from '../../lib/http.ts'
import type { AggregatorTransaction } from '../../swap/ports/aggregator.ts'

/** Quotes include all steps of a route. */
const REPLY_BYTES_MAX = 512 * 1024
const UNITS = /^(0|[1-9][0-9]{0,77})$/
const GAS = /^[1-9][0-9]{0,9}$/

/** Reads a nested member of an untrusted reply; undefined if it is absent. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let at: unknown = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

/** Parses positive base units from text; null for anything else, and for 0. */
export function unitsOf(value: unknown): bigint | null {
  return typeof value === 'string' && UNITS.test(value) && value !== '0' ? BigInt(value) : null
}

/** Parses gas from text or a number; null for anything else. It is only used to compare quotes. */
export function gasOf(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && GAS.test(text) ? Number.parseInt(text, 10) : null
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Parses the native value of a call: as `unitsOf`, plus the various notations of 0. */
const nativeValueOf = (value: unknown): bigint | null =>
  value === undefined || value === null || value === '' || value === '0' || value === '0x0' || value === '0x00'
    ? 0n
    : unitsOf(value)

export type JsonRequest = Readonly<{
  http: Http
  url: string
  query?: Readonly<Record<string, string>>
  /** Sent by POST as JSON. */
  body?: unknown
  headers?: HttpCall['headers']
  timeoutMs: number
}>

/** Returns the JSON of a reply with status 200; undefined for any other outcome. */
export async function requestJson({ http, url, query, body, headers = {}, timeoutMs }: JsonRequest): Promise<unknown> {
  const post =
    body === undefined
      ? {}
      : { method: 'POST' as const, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const reply = await http.call({
    ...post,
    url: query === undefined ? url : `${url}?${new URLSearchParams(query)}`,
    headers: { accept: 'application/json', ...post.headers, ...headers },
    timeoutMs,
    replyBytesMax: REPLY_BYTES_MAX,
  })
  if (reply.kind !== 'answer' || reply.status !== 200) return undefined
  try {
    return JSON.parse(reply.body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** A transaction whose target is also the spender; null if a part is missing. */
export function toTransaction(
  amountOut: bigint | null,
  parts: Readonly<Record<'target' | 'calldata' | 'value', unknown>>,
): AggregatorTransaction | null {
  const [target, calldata, value] = [textOf(parts.target), textOf(parts.calldata), nativeValueOf(parts.value)]
  if (amountOut === null || target === null || calldata === null || value === null) return null
  return { amountOut, target, spender: target, value, calldata }
}

/** Whether the reply names the requested token. A reply to another request is rejected. */
export const isSameToken = (value: unknown, address: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === address
