import { setTimeout as wait } from 'node:timers/promises'
import { type Hex, HttpRequestError, http, ResponseBodyTooLargeError, TimeoutError } from 'viem'
import { AppError } from '../../domain/errors.ts'
import { bytes, type Decode, InvalidReply, quantity } from './replies.ts'

/** A structured refusal of a node (JSON-RPC `error`). Decisions read `code`; the text is for people. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal'
  readonly code: number
  /** What the contract reverted with, where the node says it. */
  readonly reverted: Hex | null

  constructor(code: number, text: string, reverted: Hex | null) {
    super(`${code} ${text.slice(0, 300)}`)
    this.code = code
    this.reverted = reverted
  }
}

/** The transport failed: nothing is known of what the node did. Holds no URL, which may hold a key. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly status: number | null
  readonly tooLarge: boolean

  constructor(text: string, status: number | null, tooLarge: boolean) {
    super(text)
    this.status = status
    this.tooLarge = tooLarge
  }
}

export type Call = Readonly<{ method: string; params: readonly unknown[] }>

/** One node of one network. Every failure is an AppError NETWORK_UNAVAILABLE whose cause says what happened. */
export type Rpc = Readonly<{
  /** `eth node 1`: for messages and notes. */
  name: string
  ask<T>(method: string, params: readonly unknown[], decode: Decode<T>): Promise<T>
  /** Several calls in JSON batches; all answers or a failure. */
  askMany<T>(calls: readonly Call[], decode: Decode<T>): Promise<readonly T[]>
}>

export type RpcOptions = Readonly<{ timeoutMs: number; attempts: number; replyBytesMax: number }>

/** The call traces of a full block take megabytes: the largest reply that there is, with room. */
export const rpcDefaults: RpcOptions = { timeoutMs: 10_000, attempts: 3, replyBytesMax: 64 * 1024 * 1024 }

const BATCH_MAX = 50
const RETRY_DELAY_MS = 100

type Request = (call: { method: string; params: unknown }) => Promise<unknown>

export function createRpc(name: string, url: string, chainId: number, options: RpcOptions): Rpc {
  const single = requestOf(url, options, false)
  const batched = requestOf(url, options, true)
  let checked: Promise<void> | null = null

  /** A node of another chain would answer everything, wrongly. Asked once; a failure is asked again. */
  function checkChain(): Promise<void> {
    checked ??= call(single, { method: 'eth_chainId', params: [] }, quantity)
      .then((id) => {
        if (id !== BigInt(chainId)) throw unavailable(`${name} serves chain ${id}, not ${chainId}`)
      })
      .catch((error: unknown) => {
        checked = null
        throw error
      })
    return checked
  }

  async function call<T>(request: Request, { method, params }: Call, decode: Decode<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return decode(unwrap(await request({ method, params })))
      } catch (error) {
        const cause = causeOf(error)
        if (attempt >= options.attempts || !mayPass(cause)) {
          throw unavailable(`${name} gave no answer to ${method}`, cause)
        }
        await wait(RETRY_DELAY_MS * 2 ** attempt)
      }
    }
  }

  return Object.freeze({
    name,
    async ask<T>(method: string, params: readonly unknown[], decode: Decode<T>) {
      await checkChain()
      return call(single, { method, params }, decode)
    },
    async askMany<T>(calls: readonly Call[], decode: Decode<T>) {
      await checkChain()
      return Promise.all(calls.map((one) => call(batched, one, decode)))
    },
  })
}

/** viem's transport without its retries: those obey a node's `Retry-After` without bound. */
function requestOf(url: string, options: RpcOptions, batch: boolean): Request {
  const transport = http(url, {
    raw: true,
    retryCount: 0,
    timeout: options.timeoutMs,
    maxResponseBodySize: options.replyBytesMax,
    batch: batch ? { batchSize: BATCH_MAX } : false,
    fetchOptions: { redirect: 'error' },
    // The transport's own timeout ends with the headers; this one holds for the body too.
    fetchFn: (input, init) => {
      const deadline = AbortSignal.timeout(options.timeoutMs)
      return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline })
    },
  })({})
  return (call) => transport.request(call)
}

function unwrap(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null) throw new InvalidReply('a reply is an object')
  const { error, result } = reply as { error?: unknown; result?: unknown }
  if (error === undefined || error === null) {
    if (result === undefined) throw new InvalidReply('a reply has a result or an error')
    return result
  }
  const { code, message, data: attached } = error as { code?: unknown; message?: unknown; data?: unknown }
  if (typeof code !== 'number') throw new InvalidReply('an error has a code')
  throw new NodeRefusal(code, typeof message === 'string' ? message : '', revertOf(attached))
}

/** What comes with an error: bytes or, of some nodes, an object around them; others put words there. */
export function revertOf(attached: unknown): Hex | null {
  const found = typeof attached === 'object' && attached !== null ? (attached as { data?: unknown }).data : attached
  return typeof found === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(found) ? bytes(found) : null
}

function causeOf(error: unknown): Error {
  if (error instanceof NodeRefusal || error instanceof InvalidReply) return error
  if (error instanceof ResponseBodyTooLargeError) return new NodeFailure('the reply was too large', null, true)
  if (error instanceof TimeoutError) return new NodeFailure('timeout', null, false)
  if (error instanceof HttpRequestError) return new NodeFailure('transport', error.status ?? null, false)
  return new NodeFailure(error instanceof Error ? error.name : 'unknown', null, false)
}

/** Rate limits (EIP-1474 -32005, and 429 as some providers say it) and node-internal failures may pass. */
const passingCodes: ReadonlySet<number> = new Set([-32005, -32603, 429])

function mayPass(cause: Error): boolean {
  if (cause instanceof NodeRefusal) return passingCodes.has(cause.code)
  if (cause instanceof NodeFailure) {
    return !cause.tooLarge && (cause.status === null || cause.status >= 500 || cause.status === 429)
  }
  return false
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('NETWORK_UNAVAILABLE', message, cause === undefined ? {} : { cause })
}

/** The node's structured refusal behind a failure of `ask`, or null where it was anything else. */
export function refusalOf(error: unknown): NodeRefusal | null {
  return error instanceof AppError && error.cause instanceof NodeRefusal ? error.cause : null
}

/** The failure of the transport behind a failure of `ask`, or null where the node did answer. */
export function failureOf(error: unknown): NodeFailure | null {
  return error instanceof AppError && error.cause instanceof NodeFailure ? error.cause : null
}
