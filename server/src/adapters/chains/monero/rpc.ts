import { parseExact } from '@swapyard/lib/json-rpc.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Http } from '../../../lib/http.ts'

/** The program's own answer, or none: an error is `code` and `message`. */
export type Answer =
  | Readonly<{ kind: 'result'; result: Readonly<Record<string, unknown>> }>
  | Readonly<{ kind: 'error'; code: number; message: string }>
  | Readonly<{ kind: 'unknown'; reason: string }>

export type Headers = Readonly<Record<string, string>>

const REPLY_BYTES_MAX = 64 * 1024 * 1024
export const TIMEOUT_MS = 10_000
const MESSAGE_LENGTH_MAX = 300

/** One call of monerod or monero-wallet-rpc. Both take amounts as integers that a double does not hold. */
export async function post(
  http: Http,
  url: string,
  body: unknown,
  { headers = {}, timeoutMs = TIMEOUT_MS }: { headers?: Headers; timeoutMs?: number } = {},
): Promise<Answer & { unauthorized?: string }> {
  const answer = await http.call({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: toJson(body),
    timeoutMs,
    replyBytesMax: REPLY_BYTES_MAX,
  })
  if (answer.kind === 'unknown') return answer
  const challenge = answer.headers['www-authenticate']
  if (answer.status === 401) return { kind: 'unknown', reason: 'status 401', unauthorized: challenge ?? '' }
  if (answer.status !== 200) return { kind: 'unknown', reason: `status ${answer.status}` }
  const reply = parseExact(answer.body.toString('utf8'))
  if (!isEntry(reply)) return { kind: 'unknown', reason: 'no JSON' }
  if (isEntry(reply['error'])) {
    const { code, message } = reply['error']
    if (typeof code !== 'number') return { kind: 'unknown', reason: 'an error without code' }
    return { kind: 'error', code, message: String(message).slice(0, MESSAGE_LENGTH_MAX) }
  }
  // Methods with a path of their own answer without an envelope.
  const result = 'jsonrpc' in reply ? reply['result'] : reply
  return isEntry(result) ? { kind: 'result', result } : { kind: 'unknown', reason: 'no result' }
}

export const call = (method: string, params: Readonly<Record<string, unknown>>) => ({
  jsonrpc: '2.0',
  id: '0',
  method,
  params,
})

const isEntry = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Nothing else that is sent has an `@`, and a text with one would not match as a whole. */
const toJson = (body: unknown): string =>
  JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? `@${value}@` : value)).replace(
    /"@(\d{1,20})@"/g,
    '$1',
  )

/** A reply in a shape that no node of ours gives: treated as no answer, so that nothing is concluded from it. */
export function malformed(what: string): AppError {
  return new AppError('NETWORK_UNAVAILABLE', 'a node of the network gives no usable answers', {
    cause: new Error(`malformed ${what} in a reply`),
  })
}

export function readEntry(value: unknown): Readonly<Record<string, unknown>> {
  if (!isEntry(value)) throw malformed('object')
  return value
}

/** monerod leaves empty lists out. */
export function readList(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw malformed('list')
  return value
}

export function readInteger(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw malformed('integer')
  return value
}

/** Whatever its size: above 2^53 it comes as the text that it was. */
export function readUnits(value: unknown): bigint {
  const text = String(value)
  if (!/^\d{1,20}$/.test(text)) throw malformed('amount')
  return BigInt(text)
}

const HASH = /^[0-9a-f]{64}$/
const HEX = /^(?:[0-9a-f]{2})*$/

export function readHash(value: unknown): string {
  if (typeof value !== 'string' || !HASH.test(value)) throw malformed('hash')
  return value
}

export function readHex(value: unknown): Uint8Array {
  if (typeof value !== 'string' || !HEX.test(value)) throw malformed('bytes')
  return new Uint8Array(Buffer.from(value, 'hex'))
}
