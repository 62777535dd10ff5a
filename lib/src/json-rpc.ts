import pRetry from 'p-retry'
import { errors, Pool } from 'undici'
import { headersOf, type NodeEndpoint, urlOf } from './node-endpoint.ts'
import { reasonOf } from './transport-error.ts'

/**
 * The outcome of a call. `error` is the node's own answer. `unknown` means no answer, or an unreadable one: the node may
 * have done what it was asked for.
 */
export type RpcAnswer =
  | Readonly<{ kind: 'result'; result: unknown }>
  | Readonly<{ kind: 'error'; code: number; message: string }>
  | Readonly<{ kind: 'unknown'; reason: string; cause?: unknown }>

/** JSON-RPC over HTTP to one node. The methods never throw: callers branch on the answer. */
export type JsonRpc = Readonly<{
  /** Host and port, for logs and errors: credentials, path and query may contain a key. */
  host: string
  /** Sends one request. For calls that must not run twice. */
  call(method: string, params: readonly unknown[]): Promise<RpcAnswer>
  /** Repeats the request while the outcome is unknown, at most `retries` times. For reads, which are safe to repeat. */
  read(method: string, params: readonly unknown[]): Promise<RpcAnswer>
  close(): Promise<void>
}>

export type JsonRpcOptions = Readonly<{
  url: NodeEndpoint
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
  const { host, post, close } = createJsonPost({ connections: CONNECTIONS, ...options })
  let lastId = 0

  const call = async (method: string, params: readonly unknown[]): Promise<RpcAnswer> => {
    const id = ++lastId
    const reply = await post({ jsonrpc: '2.0', id, method, params })
    return reply.kind === 'unknown' ? reply : toAnswer(reply.status, parseExact(reply.text), id)
  }

  return Object.freeze({
    host,
    call,
    read: (method, params) => repeat(() => call(method, params), options.retries ?? RETRIES),
    close,
  })
}

export type PostReply =
  | Readonly<{ kind: 'reply'; status: number; text: string }>
  | Readonly<{ kind: 'unknown'; reason: string; isTooLong: boolean; cause: unknown }>

/** Posts JSON to one node and gives its reply as text. Follows no redirect, asks once, throws nothing. */
export function createJsonPost(options: Omit<JsonRpcOptions, 'retries'>): Readonly<{
  host: string
  post(body: unknown): Promise<PostReply>
  close(): Promise<void>
}> {
  const url = new URL(urlOf(options.url))
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError('the URL of a node is not http or https')
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const pool = new Pool(url.origin, {
    connections: options.connections ?? CONNECTIONS,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: options.replyBytesMax ?? REPLY_BYTES_MAX,
  })
  const headers = { 'content-type': 'application/json', ...headersOf(options.url) }
  const path = url.pathname + url.search
  return {
    host: url.host,
    async post(body) {
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const reply = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body), signal })
        return { kind: 'reply', status: reply.statusCode, text: await reply.body.text() }
      } catch (cause) {
        const isTooLong = cause instanceof errors.ResponseExceededMaxSizeError
        return { kind: 'unknown', reason: isTooLong ? 'the reply is too long' : reasonOf(cause), isTooLong, cause }
      }
    },
    close: () => pool.destroy(),
  }
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

/** Bitcoin Core sends errors with status 500 and 404, other nodes with 200: the body decides, the status only explains. */
export function toAnswer(status: number, body: unknown, id: number): RpcAnswer {
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

/** A node refused a call. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message} (${code})`)
    this.code = code
  }
}

/** The result of a call. Throws an RpcError for the node's own error, another error for an unknown outcome. */
export function unwrapAnswer(method: string, answer: RpcAnswer): unknown {
  if (answer.kind === 'result') return answer.result
  if (answer.kind === 'error') throw new RpcError(method, answer.code, answer.message)
  throw new Error(`${method}: ${answer.reason}`, { cause: answer.cause })
}

/** One call over a connection of its own, for tests and scripts. */
export async function callOnce(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const rpc = createJsonRpc({ url, connections: 1, timeoutMs: 60_000 })
  try {
    return unwrapAnswer(method, await rpc.call(method, params))
  } finally {
    await rpc.close()
  }
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
