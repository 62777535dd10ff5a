import { parseExact } from '@swapyard/lib/json-rpc.ts'
import type { Http } from '../../../lib/http.ts'
import { isEntry, isHex, malformed } from '../shared/replies.ts'

/** The answer to a call; `unknown` if there was no valid answer. */
export type Answer =
  | Readonly<{ kind: 'result'; result: Readonly<Record<string, unknown>> }>
  | Readonly<{ kind: 'error'; code: number; message: string }>
  | Readonly<{ kind: 'unknown'; reason: string }>

export type Headers = Readonly<Record<string, string>>

const REPLY_BYTES_MAX = 64 * 1024 * 1024
export const TIMEOUT_MS = 10_000
const MESSAGE_LENGTH_MAX = 300

/** One call of monerod or monero-wallet-rpc. Amounts are JSON integers, which may exceed a double's precision. */
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
  // Methods with their own path answer without a JSON-RPC envelope.
  const result = 'jsonrpc' in reply ? reply['result'] : reply
  return isEntry(result) ? { kind: 'result', result } : { kind: 'unknown', reason: 'no result' }
}

export const call = (method: string, params: Readonly<Record<string, unknown>>) => ({
  jsonrpc: '2.0',
  id: '0',
  method,
  params,
})

/** Writes bigints as JSON integers. No text that we send has the form `@digits@`. */
const toJson = (body: unknown): string =>
  JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? `@${value}@` : value)).replace(
    /"@(\d{1,20})@"/g,
    '$1',
  )

/** monerod omits empty lists. */
export function readList(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw malformed('list')
  return value
}

/** An amount of any size; `parseExact` returns integers above 2^53 as text. */
export function readUnits(value: unknown): bigint {
  const text = String(value)
  if (!/^\d{1,20}$/.test(text)) throw malformed('amount')
  return BigInt(text)
}

export function readHex(value: unknown): Uint8Array {
  if (!isHex(value)) throw malformed('bytes')
  return new Uint8Array(Buffer.from(value, 'hex'))
}
