import pRetry from 'p-retry'
import { errors, Pool } from 'undici'
import { assert } from './assert.ts'

/**
 * What came of a call. `error` is the node's own answer. `unknown` is no answer, or none that can be read: whatever was
 * asked for may have happened all the same.
 */
export type RpcAnswer =
  | Readonly<{ kind: 'result'; result: unknown }>
  | Readonly<{ kind: 'error'; code: number; message: string }>
  | Readonly<{ kind: 'unknown'; reason: string; cause?: unknown }>

/** JSON-RPC over HTTP to one node. Nothing throws: callers branch on the answer. */
export type JsonRpc = Readonly<{
  /** Host and port alone, for logs and errors: never credentials, path or query, which may hold a key. */
  host: string
  /** Asks once. For whatever must not be done twice. */
  call(method: string, params: readonly unknown[]): Promise<RpcAnswer>
  /** Asks again while the outcome is unknown, a bounded number of times: for reads alone, which are safe to repeat. */
  read(method: string, params: readonly unknown[]): Promise<RpcAnswer>
  close(): Promise<void>
}>

export type JsonRpcOptions = Readonly<{
  /** User and password in it become basic authentication. */
  url: string
  /** From the call to the last byte of the reply. */
  timeoutMs?: number
  /** Longer replies are cut off and count as unknown. */
  replyBytesMax?: number
  /** Further attempts of a read. */
  retries?: number
  /** Calls in flight at once; Bitcoin Core queues 16 by default and answers 503 above. */
  connections?: number
}>

const TIMEOUT_MS = 10_000
const REPLY_BYTES_MAX = 64 * 1024 * 1024
const RETRIES = 2
const CONNECTIONS = 8
const RETRY_DELAY_MS = 100
/** A node's message is kept for the operator, cut to this length. */
const MESSAGE_LENGTH_MAX = 300

export function createJsonRpc(options: JsonRpcOptions): JsonRpc {
  const url = new URL(options.url)
  assert(url.protocol === 'http:' || url.protocol === 'https:', 'a node is reached over http or https')
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const pool = new Pool(url.origin, {
    connections: options.connections ?? CONNECTIONS,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: options.replyBytesMax ?? REPLY_BYTES_MAX,
  })
  const headers = { 'content-type': 'application/json', ...basicAuthorization(url) }
  let lastId = 0

  const call = async (method: string, params: readonly unknown[]): Promise<RpcAnswer> => {
    const id = ++lastId
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const path = url.pathname + url.search
      const reply = await pool.request({ method: 'POST', path, headers, body, signal })
      return toAnswer(reply.statusCode, await reply.body.text(), id)
    } catch (cause) {
      return { kind: 'unknown', reason: reasonOf(cause), cause }
    }
  }

  return Object.freeze({
    host: url.host,
    call,
    read: (method, params) => repeat(() => call(method, params), options.retries ?? RETRIES),
    close: () => pool.destroy(),
  })
}

/** What a URL names before its host. */
export function basicAuthorization(url: URL): { authorization?: string } {
  if (url.username === '' && url.password === '') return {}
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

async function repeat(ask: () => Promise<RpcAnswer>, retries: number): Promise<RpcAnswer> {
  let answer: RpcAnswer | null = null
  try {
    return await pRetry(
      async () => {
        answer = await ask()
        if (answer.kind === 'unknown') throw new Error(answer.reason)
        return answer
      },
      { retries, minTimeout: RETRY_DELAY_MS, maxTimeout: 10 * RETRY_DELAY_MS, randomize: true },
    )
  } catch (cause) {
    return answer ?? { kind: 'unknown', reason: 'not asked', cause }
  }
}

/** Bitcoin Core answers errors with status 500 and 404, others with 200: the body decides, the status only explains. */
function toAnswer(status: number, text: string, id: number): RpcAnswer {
  const body = parseExact(text)
  if (typeof body !== 'object' || body === null) return { kind: 'unknown', reason: `status ${status} without JSON` }
  const { id: replyId, result, error } = body as { id?: unknown; result?: unknown; error?: unknown }
  if (replyId !== id) return { kind: 'unknown', reason: `status ${status} to another call` }
  if (typeof error === 'object' && error !== null) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    if (typeof code !== 'number') return { kind: 'unknown', reason: `status ${status} with an error without code` }
    return { kind: 'error', code, message: String(message).slice(0, MESSAGE_LENGTH_MAX) }
  }
  if (status !== 200 || result === undefined) return { kind: 'unknown', reason: `status ${status} without a result` }
  return { kind: 'result', result }
}

/**
 * JSON in which numbers that a double may not hold exactly (fractions, exponents, above 2^53) stay the text that they
 * were: amounts of Bitcoin Core are decimals, and those of Dogecoin exceed 2^53 units.
 */
export function parseExact(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value !== 'number' || context?.source === undefined) return value
    return Number.isSafeInteger(value) && /^-?\d+$/.test(context.source) ? value : context.source
  }
  try {
    return JSON.parse(text, keep)
  } catch {
    return undefined
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof errors.ResponseExceededMaxSizeError) return 'the reply is too long'
  if (cause instanceof Error && cause.name === 'TimeoutError') return 'timeout'
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  return typeof code === 'string' ? code : 'no answer'
}
