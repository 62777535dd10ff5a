import { setTimeout as wait } from 'node:timers/promises'
import type { Hex } from 'viem'
import { AppError } from '../../../core/domain/errors.ts'
import { createBatcher } from '../../../lib/batch.ts'
import { createJsonPost } from '../../../lib/json-rpc.ts'
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
  readonly isTooLarge: boolean

  constructor(text: string, status: number | null, isTooLarge: boolean) {
    super(text)
    this.status = status
    this.isTooLarge = isTooLarge
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
/** Batches to one node at once, and requests besides. */
const BATCHES = 8
const CONNECTIONS = 32
const RETRY_DELAY_MS = 100

/** Resolves to the reply as the node wrote it, result or error. */
type Request = (call: Call) => Promise<unknown>

export function createRpc(name: string, url: string, chainId: number, options: RpcOptions): Rpc {
  const { single, batched } = createRequests(url, options)
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

/**
 * JSON-RPC 2.0 over HTTP, without retries and redirects. Not viem's transport: it costs a start, and every block after it,
 * four times the processor time (decision 0071).
 */
function createRequests(url: string, options: RpcOptions): { single: Request; batched: Request } {
  const { post: send } = createJsonPost({ url, connections: CONNECTIONS, ...options })
  let lastId = 0
  const toRequest = ({ method, params }: Call) => ({ jsonrpc: '2.0', id: ++lastId, method, params })

  async function post(body: unknown): Promise<unknown> {
    const reply = await send(body)
    if (reply.kind === 'unknown') throw new NodeFailure(reply.reason, null, reply.isTooLong)
    return readReply(reply.status, reply.text)
  }

  return {
    single: (call) => post(toRequest(call)),
    batched: createBatcher(
      async (calls: readonly Call[]) => {
        const requests = calls.map(toRequest)
        const reply = await post(requests)
        if (!Array.isArray(reply)) return requests.map(() => refusalOfAll(reply))
        const byId = new Map(reply.map((one: { id?: unknown } | null) => [one?.id, one]))
        return requests.map(({ id }) => byId.get(id))
      },
      { most: BATCH_MAX, running: BATCHES },
    ),
  }
}

/** A node that takes no batches refuses all in one. */
function refusalOfAll(reply: unknown): unknown {
  const { error } = (reply ?? {}) as { error?: unknown }
  if (error === undefined || error === null) throw new InvalidReply('a batch is answered by a list')
  return { error }
}

/** Errors may come with any status; a status without one is the node's door, not the node. */
function readReply(status: number, text: string): unknown {
  const isGood = status >= 200 && status < 300
  const failure = () => new NodeFailure('transport', isGood ? null : status, false)
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    throw failure()
  }
  const { error } = (reply ?? {}) as { error?: { code?: unknown; message?: unknown } | null }
  if (!isGood && (typeof error?.code !== 'number' || typeof error.message !== 'string')) throw failure()
  return reply
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
  if (error instanceof NodeRefusal || error instanceof InvalidReply || error instanceof NodeFailure) return error
  return new NodeFailure(error instanceof Error ? error.name : 'unknown', null, false)
}

/** Rate limits (EIP-1474 -32005, and 429 as some providers say it) and node-internal failures may pass. */
const transientCodes: ReadonlySet<number> = new Set([-32005, -32603, 429])

function isTransient(cause: Error): boolean {
  if (cause instanceof NodeRefusal) return transientCodes.has(cause.code)
  if (cause instanceof NodeFailure) {
    return !cause.isTooLarge && (cause.status === null || cause.status >= 500 || cause.status === 429)
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
