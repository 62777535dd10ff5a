import type { Http, HttpCall } from '../../lib/http.ts'

/** Routes with all their steps are long. */
const REPLY_BYTES_MAX = 512 * 1024
const UNITS = /^(0|[1-9][0-9]{0,77})$/

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

export type Asking = Readonly<{
  http: Http
  url: string
  query: Readonly<Record<string, string>>
  headers?: HttpCall['headers']
  timeoutMs: number
}>

/** What was answered with 200, as JSON; undefined for any other outcome. */
export async function askJson({ http, url, query, headers = {}, timeoutMs }: Asking): Promise<unknown> {
  const answer = await http.call({
    url: `${url}?${new URLSearchParams(query)}`,
    headers: { accept: 'application/json', ...headers },
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

/** The same token as asked for: an answer to another question is none. */
export const isToken = (value: unknown, address: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === address
