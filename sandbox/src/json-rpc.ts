import { Agent, request } from 'node:http'
import { ControlError } from './control-error.ts'

export type RpcCall = readonly [method: string, params: readonly unknown[]]

export type JsonRpc = Readonly<{
  call(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Sends all calls in one request; throws the first error once every reply has arrived. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>
  close(): void
}>

/** An error that the node returned, with its code. */
export class RpcError extends Error {
  readonly code: number

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message} (${code})`)
    this.code = code
  }
}

type Reply = { id?: unknown; result?: unknown; error?: { code: number; message: string } | null }
type WithSource = { source?: string }

const timeoutMs = 60_000
/** Far above the largest block of a sandbox chain. */
const replyBytesMax = 256 * 1024 * 1024

/** Keeps fractions and integers beyond 2^53 as text, so that an amount never becomes a floating-point number. */
function reviveExact(_key: string, value: unknown, context?: WithSource): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return context?.source ?? String(value)
}

/** A JSON-RPC client for one local node. The URL may hold user and password, as Bitcoin Core requires. */
export function createJsonRpc(rpcUrl: string): JsonRpc {
  const url = new URL(rpcUrl)
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const auth = url.username === '' ? {} : { auth: `${url.username}:${url.password}` }

  const post = (body: string, retry = true): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const options = { method: 'POST', agent, timeout: timeoutMs, headers, ...auth }
      const outgoing = request(`http://${url.host}/`, options, (response) => {
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > replyBytesMax) outgoing.destroy(new Error(`the reply exceeds ${replyBytesMax} bytes`))
          chunks.push(chunk)
        })
        response.once('error', fail)
        response.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      })
      const fail = (cause: NodeJS.ErrnoException) => {
        // The node closed the keep-alive connection before it read the request.
        if (retry && outgoing.reusedSocket && cause.code === 'ECONNRESET') return resolve(post(body, false))
        reject(new ControlError(503, 'NODE_UNAVAILABLE', `the node at port ${url.port} does not answer`, cause))
      }
      outgoing.once('timeout', () => outgoing.destroy(new Error(`no reply within ${timeoutMs} ms`)))
      outgoing.once('error', fail)
      outgoing.end(body)
    })

  const batch = async (calls: readonly RpcCall[]): Promise<unknown[]> => {
    if (calls.length === 0) return []
    const text = await post(
      JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))),
    )
    const replies = parse(text)
    if (!Array.isArray(replies))
      throw new ControlError(503, 'NODE_UNAVAILABLE', `the node's reply is not a batch: ${text.slice(0, 200)}`)
    const byId = new Map((replies as Reply[]).map((reply) => [reply.id, reply]))
    return calls.map(([method], id) => resultOf(method, byId.get(id)))
  }

  const call = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    const text = await post(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }))
    return resultOf(method, parse(text) as Reply)
  }

  return { call, batch, close: () => agent.destroy() }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, reviveExact)
  } catch (cause) {
    throw new ControlError(503, 'NODE_UNAVAILABLE', `the node's reply is not JSON: ${text.slice(0, 200)}`, cause)
  }
}

function resultOf(method: string, reply: Reply | undefined): unknown {
  if (reply === undefined) throw new RpcError(method, -32603, 'no reply in the batch')
  if (reply.error) throw new RpcError(method, reply.error.code, reply.error.message)
  return reply.result
}
