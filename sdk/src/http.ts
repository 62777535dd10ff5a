import { isErrorBody, SwapyardError, toKnownCode } from './errors.ts'
import { isTemporary, parseRetryAfter, readDelay } from './retry.ts'
import { sleep, TIMER_MAX_MS } from './sleep.ts'

export type ClientOptions = Readonly<{
  /** Address of the server, for example `https://api.example.com`. */
  baseUrl: string
  /** Not needed for public operations. Do not ship it to browsers of other people. */
  apiKey?: string | undefined
  /** Default: the `fetch` of the platform. */
  fetch?: typeof fetch | undefined
  /** Time of one attempt, with the body. Default: 30 s. */
  timeoutMs?: number | undefined
  /** Repeats after a temporary failure. Default: 3. */
  retries?: number | undefined
  /** A longer `Retry-After` rejects at once. Default: 60 s. */
  maxRetryDelayMs?: number | undefined
  /** Default: 64 MiB. */
  maxResponseBytes?: number | undefined
}>

export type CallOptions = Readonly<{
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  retries?: number | undefined
  /** For POST. Default: a random key for each call, the same for all its attempts. Store your own to repeat a call after a restart. */
  idempotencyKey?: string | undefined
  /** Sees the status and the headers of the answer, for example `X-Total-Count`. */
  onResponse?: ((response: Response) => void) | undefined
}>

/** Method, path, the place of the input beside the path, the kind of the answer. */
export type Operation = readonly [
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE',
  path: string,
  input: 'none' | 'path' | 'query' | 'body',
  answer: 'json' | 'xml' | 'headers',
]
export type Send = (operation: Operation, input: unknown, options?: CallOptions) => Promise<unknown>

const KEY_BYTES = 16
export const RESPONSE_BYTES_MAX = 2 ** 26

/** Creates the function that sends every request: with timeouts, bounded repeats and an `Idempotency-Key`. */
export function createSend(client: ClientOptions): Send {
  const { apiKey, baseUrl, maxRetryDelayMs = 60_000 } = client
  if (!/^https?:$/.test(new URL(baseUrl).protocol)) throw new TypeError('baseUrl must be an http or https URL')
  // The message of fetch would contain the key.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey has a character that headers do not allow')
  return async (operation, input, options = {}) => {
    const request = createRequest(client, operation, input, options)
    const retries = isRepeatable(operation) ? (options.retries ?? client.retries ?? 3) : 0
    let mayBeDone = false
    for (let attempt = 0; ; attempt++) {
      try {
        return await sendOnce(client, operation, request, options)
      } catch (error) {
        if (mayBeDone && isDeleted(operation, error)) return { ...Object(input), deleted: true }
        if (attempt >= retries || !isTemporary(error)) throw error
        mayBeDone ||= (error.statusCode ?? 500) >= 500
        const delayMs = readDelay(error, attempt)
        if (delayMs > maxRetryDelayMs) throw error
        await sleep(delayMs, options.signal)
      }
    }
  }
}

/** Every POST of the API is idempotent by its key. A payment of the sandbox may be under way when its request fails. */
const isRepeatable = ([method, path]: Operation) => method !== 'POST' || !path.startsWith('/sandbox/')

/** The answer to a repeat of a deletion whose answer was lost. */
const isDeleted = ([method]: Operation, error: unknown) =>
  method === 'DELETE' && error instanceof SwapyardError && error.code === 'WEBHOOK_NOT_FOUND'

type Request = Readonly<{ url: string; init: RequestInit; idempotencyKey: string | null }>

export function createRequest(
  { baseUrl, apiKey }: ClientOptions,
  [method, path, place]: Operation,
  input: unknown,
  options: CallOptions,
): Request {
  const headers: Record<string, string> = {}
  if (apiKey !== undefined) headers['x-api-key'] = apiKey
  const idempotencyKey = method === 'POST' ? (options.idempotencyKey ?? createKey()) : null
  if (idempotencyKey !== null) headers['idempotency-key'] = idempotencyKey
  if (place === 'body') headers['content-type'] = 'application/json'
  const rest: Record<string, unknown> = { ...Object(input) }
  const at = path.replace(/{(\w+)}/g, (_, name: string) => {
    const value = encodeURIComponent(String(rest[name]))
    delete rest[name]
    return value
  })
  const query = place === 'query' ? toQuery(rest) : ''
  return {
    url: baseUrl.replace(/\/+$/, '') + at + query,
    // A redirect would carry the key to another host.
    init: {
      method,
      headers,
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
      ...(place === 'body' ? { body: JSON.stringify(input) } : {}),
    },
    idempotencyKey,
  }
}

/** `crypto.randomUUID` exists in secure contexts only. */
function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function toQuery(members: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members))
    if (value !== undefined && value !== null) query.set(name, String(value))
  return query.size === 0 ? '' : `?${query}`
}

async function sendOnce(
  client: ClientOptions,
  operation: Operation,
  { url, init, idempotencyKey }: Request,
  { signal, timeoutMs = client.timeoutMs ?? 30_000, onResponse }: CallOptions,
): Promise<unknown> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = () => controller.abort()
  signal?.addEventListener('abort', stop, { once: true })
  let isLate = false
  const timer = setTimeout(
    () => {
      isLate = true
      stop()
    },
    Math.min(timeoutMs, TIMER_MAX_MS),
  )
  let response: Response
  let text: string | null
  try {
    response = await (client.fetch ?? fetch)(url, { ...init, signal: controller.signal })
    text = await readText(response, client.maxResponseBytes ?? RESPONSE_BYTES_MAX)
  } catch (cause) {
    signal?.throwIfAborted()
    const what = `${operation[0]} ${operation[1]}`
    throw isLate
      ? new SwapyardError('TIMEOUT', `${what}: no complete answer within ${timeoutMs} ms`, { idempotencyKey, cause })
      : new SwapyardError('CONNECTION_FAILED', `${what}: ${readReason(cause)}`, { idempotencyKey, cause })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    // Ends the download of an answer that is too large.
    stop()
  }
  onResponse?.(response)
  return readAnswer(operation, response, text, idempotencyKey)
}

/** The message of Node's `fetch` is in its cause. */
export function readReason(error: unknown): string {
  const { message, cause } = Object(error) as { message?: string; cause?: { message?: string; code?: string } }
  return cause?.message || cause?.code || message || 'the connection failed'
}

/** Null if the body is larger than the limit. */
export async function readText(response: Response, bytesMax: number): Promise<string | null> {
  if (response.body === null) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let size = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > bytesMax) return null
    text += decoder.decode(value, { stream: true })
  }
}

export function readAnswer(
  [method, path, , kind]: Operation,
  { ok, status, headers }: Response,
  text: string | null,
  idempotencyKey: string | null,
): unknown {
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'))
  const details = { statusCode: status, requestId: headers.get('x-request-id'), retryAfterMs, idempotencyKey }
  const reject = (reason: string) =>
    new SwapyardError('INVALID_RESPONSE', `${method} ${path}: status ${status} with ${reason}`, details)
  if (text === null) throw reject('a body above the limit')
  if (ok && kind === 'headers') return headers
  const type = headers.get('content-type') ?? 'no content type'
  if (ok && (type.includes('csv') || (kind === 'xml' && type.includes('xml')))) return text
  if (!type.includes('json')) throw reject(`${type} in place of ${ok ? kind : 'json'}`)
  const body = parseJson(text)
  if (body === undefined) throw reject('a body that is not JSON')
  if (ok) return body
  if (!isErrorBody(body)) throw reject('an unknown error body')
  const { code: apiCode, message, error, errors, requestId } = body
  throw new SwapyardError(toKnownCode(apiCode), message, { ...details, apiCode, error, errors, requestId })
}

/** Undefined is not a value of JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
