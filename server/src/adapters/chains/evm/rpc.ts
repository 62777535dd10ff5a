import { setTimeout as wait } from 'node:timers/promises'
import { createJsonPost } from '@swapyard/lib/json-rpc.ts'
import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { Hex } from 'viem'
import { AppError } from '../../../core/domain/errors.ts'
import { createBatcher } from '../../../lib/batch.ts'
import { bytes, type Decode, InvalidReply, quantity } from './replies.ts'

/** A node's JSON-RPC `error`. The program decides by `code`; the text is for people. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal'
  readonly code: number
  /** The contract's revert data, if the node returns it. */
  readonly reverted: Hex | null

  constructor(code: number, text: string, reverted: Hex | null) {
    super(`${code} ${text.slice(0, 300)}`)
    this.code = code
    this.reverted = reverted
  }
}

/** A transport failure: the node may or may not have executed the call. Contains no URL, which may contain an API key. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly status: number | null
  readonly isTooLarge: boolean

  constructor(text: string, status: number | null, isTooLarge: boolean) {
    super(text)
    this.status = status
    this.isTooLarge = isTooLarge
  }
}

export type Call = Readonly<{ method: string; params: readonly unknown[] }>

/** One node of one network. Each failure is an AppError NETWORK_UNAVAILABLE with a NodeRefusal, NodeFailure or InvalidReply as its cause. */
export type Rpc = Readonly<{
  /** For messages and notes: `eth node 1`. */
  name: string
  ask<T>(method: string, params: readonly unknown[], decode: Decode<T>): Promise<T>
  /** Several calls in JSON batches. Fails if one of them fails. */
  askMany<T>(calls: readonly Call[], decode: Decode<T>): Promise<readonly T[]>
}>

export type RpcOptions = Readonly<{ timeoutMs: number; attempts: number; replyBytesMax: number }>

/** The largest replies are the call traces of a full block: several megabytes. */
export const rpcDefaults: RpcOptions = { timeoutMs: 10_000, attempts: 3, replyBytesMax: 64 * 1024 * 1024 }

const BATCH_MAX = 50
/** Concurrent batches per node. The other connections serve single requests. */
const BATCHES = 8
const CONNECTIONS = 32
const RETRY_DELAY_MS = 100

/** Resolves to the node's reply, a result or an error. */
type Request = (call: Call) => Promise<unknown>

export function createRpc(name: string, url: NodeEndpoint, chainId: number, options: RpcOptions): Rpc {
  const { single, batched } = createRequests(url, options)
  let chainCheck: Promise<void> | null = null

  /** Guards against a node of another chain. Runs once; a failed check runs again. */
  function checkChain(): Promise<void> {
    chainCheck ??= call(single, { method: 'eth_chainId', params: [] }, quantity)
      .then((id) => {
        if (id !== BigInt(chainId)) throw unavailable(`${name} serves chain ${id}, not ${chainId}`)
      })
      .catch((error: unknown) => {
        chainCheck = null
        throw error
      })
    return chainCheck
  }

  async function call<T>(request: Request, { method, params }: Call, decode: Decode<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return decode(unwrap(await request({ method, params })))
      } catch (error) {
        const cause = causeOf(error)
        if (attempt >= options.attempts || !isTransient(cause)) {
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

/** JSON-RPC 2.0 over HTTP without retries and redirects. viem's transport takes four times the processor time (decision 0071). */
function createRequests(url: NodeEndpoint, options: RpcOptions): { single: Request; batched: Request } {
  const { post: send } = createJsonPost({ url, connections: CONNECTIONS, ...options })
  let lastId = 0
  const toRequest = ({ method, params }: Call) => ({ jsonrpc: '2.0', id: ++lastId, method, params })

  async function post(body: unknown): Promise<unknown> {
    const reply = await send(body)
    if (reply.kind === 'unknown') throw new NodeFailure(reply.reason, null, reply.isTooLong)
    return readReply(reply.status, reply.text)
  }

  const single: Request = (call) => post(toRequest(call))
  return {
    single,
    batched: createBatcher(createBatchSender(post, toRequest), { most: BATCH_MAX, running: BATCHES }),
  }
}

/** How long a refused size is remembered: operators and providers change limits. */
const SIZE_MEMORY_MS = 600_000

/**
 * Sends calls as one batch. A node that refuses it, by an error for all of it or by status 413, gets its halves, down to
 * single calls. Returns one reply per call.
 */
function createBatchSender(post: (body: unknown) => Promise<unknown>, toRequest: (call: Call) => { id: number }) {
  let sizeMax = BATCH_MAX
  let isValidUntil = 0

  async function sendHalves(calls: readonly Call[]): Promise<readonly unknown[]> {
    const [first] = calls
    if (first !== undefined && calls.length === 1) return [await post(toRequest(first))]
    const requests = calls.map(toRequest)
    const reply = await post(requests).catch(acceptTooLarge)
    const refusal = readBatchRefusal(reply)
    if (refusal === null) {
      const byId = new Map((reply as { id?: unknown }[]).map((one) => [one?.id, one]))
      return requests.map(({ id }) => byId.get(id))
    }
    const half = Math.ceil(calls.length / 2)
    const left = await sendHalves(calls.slice(0, half))
    // Single calls are refused for the same reason, so it is not the size: the other half would be refused as well.
    if (left.every((one) => isSameRefusal(one, refusal))) return calls.map(() => refusal)
    sizeMax = Math.min(sizeMax, half)
    isValidUntil = Date.now() + SIZE_MEMORY_MS
    return [...left, ...(await sendHalves(calls.slice(half)))]
  }

  return async function sendBatch(calls: readonly Call[]): Promise<readonly unknown[]> {
    if (Date.now() >= isValidUntil) sizeMax = BATCH_MAX
    const parts: (readonly Call[])[] = []
    for (let n = 0; n < calls.length; n += sizeMax) parts.push(calls.slice(n, n + sizeMax))
    return (await Promise.all(parts.map(sendHalves))).flat()
  }
}

type BatchRefusal = Readonly<{ error: unknown }>

function acceptTooLarge(error: unknown): BatchRefusal {
  if (error instanceof NodeFailure && error.status === 413) return { error: { code: 413, message: 'too large' } }
  throw error
}

/** The error for a whole batch: an object, or geth's list of one error for several calls; null = a reply per call. */
function readBatchRefusal(reply: unknown): BatchRefusal | null {
  const only = !Array.isArray(reply) ? reply : reply.length === 1 ? reply[0] : null
  const { error = null } = (only ?? {}) as { error?: unknown }
  if (error !== null) return { error }
  if (!Array.isArray(reply)) throw new InvalidReply('the reply to a batch is not a list')
  return null
}

function isSameRefusal(reply: unknown, { error }: BatchRefusal): boolean {
  return JSON.stringify((reply as { error?: unknown } | undefined)?.error) === JSON.stringify(error)
}

/** A JSON-RPC error may have any HTTP status. An error status without one comes from a proxy in front of the node. */
function readReply(status: number, text: string): unknown {
  const isSuccess = status >= 200 && status < 300
  const failure = () => new NodeFailure('transport', isSuccess ? null : status, false)
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    throw failure()
  }
  const { error } = (reply ?? {}) as { error?: { code?: unknown; message?: unknown } | null }
  if (!isSuccess && (typeof error?.code !== 'number' || typeof error.message !== 'string')) throw failure()
  return reply
}

function unwrap(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null) throw new InvalidReply('the reply is not an object')
  const { error, result } = reply as { error?: unknown; result?: unknown }
  if (error === undefined || error === null) {
    if (result === undefined) throw new InvalidReply('the reply has neither a result nor an error')
    return result
  }
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown }
  if (typeof code !== 'number') throw new InvalidReply('the error has no code')
  throw new NodeRefusal(code, typeof message === 'string' ? message : '', parseRevertBytes(data))
}

/** The revert data of an error's `data`: bytes, or an object with bytes in its own `data`; null for text. */
export function parseRevertBytes(data: unknown): Hex | null {
  const value = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  return typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value) ? bytes(value) : null
}

function causeOf(error: unknown): Error {
  if (error instanceof NodeRefusal || error instanceof InvalidReply || error instanceof NodeFailure) return error
  return new NodeFailure(error instanceof Error ? error.name : 'unknown', null, false)
}

/** Worth a retry: rate limits (EIP-1474 -32005; 429 at some providers) and internal node errors. */
const transientCodes: ReadonlySet<number> = new Set([-32005, -32603, 429])

export function isTransient(cause: Error): boolean {
  if (cause instanceof NodeRefusal) return transientCodes.has(cause.code)
  if (cause instanceof NodeFailure) {
    return !cause.isTooLarge && (cause.status === null || cause.status >= 500 || cause.status === 429)
  }
  return false
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('NETWORK_UNAVAILABLE', message, cause === undefined ? {} : { cause })
}

/** The node's refusal that caused a failure of `ask`; null for other causes. */
export function refusalOf(error: unknown): NodeRefusal | null {
  return error instanceof AppError && error.cause instanceof NodeRefusal ? error.cause : null
}

/** Error codes of a reverted call: 3 (geth and derivatives), -32015 (Nethermind, OpenEthereum). */
const revertCodes: ReadonlySet<number> = new Set([3, -32015])

/** Whether the call reverted. Besu had the code -32000 for reverts and other failures; only reverts have data. */
export function isRevert({ code, reverted }: NodeRefusal): boolean {
  return reverted !== null || revertCodes.has(code)
}

/** The transport failure that caused a failure of `ask`; null if the node answered. */
export function failureOf(error: unknown): NodeFailure | null {
  return error instanceof AppError && error.cause instanceof NodeFailure ? error.cause : null
}

/** Whether no reply came in time, or a proxy gave up: not a limit, a refusal or an invalid reply. */
export function isTimeout(error: unknown): boolean {
  const failure = failureOf(error)
  return failure !== null && !failure.isTooLarge && (failure.status === null || failure.status >= 500)
}
