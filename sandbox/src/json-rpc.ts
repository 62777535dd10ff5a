import { createJsonPost, parseExact, type RpcAnswer, RpcError, toAnswer, unwrapAnswer } from '@swapyard/lib/json-rpc.ts'
import { ControlError } from './control-error.ts'

export type RpcCall = readonly [method: string, params: readonly unknown[]]

/** JSON-RPC to one node of this machine. A node's refusal throws an RpcError, a missing answer a ControlError with status 503. */
export type JsonRpc = Readonly<{
  call(method: string, params?: readonly unknown[]): Promise<unknown>
  /** One request for all; throws the first error, after all were answered. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>
  close(): void
}>

const timeoutMs = 60_000
/** Far above the size of any block of the sandbox. */
const replyBytesMax = 256 * 1024 * 1024
const connections = 16

export function createJsonRpc(rpcUrl: string): JsonRpc {
  const { post, close } = createJsonPost({ url: rpcUrl, timeoutMs, replyBytesMax, connections })

  const send = async (body: unknown): Promise<{ status: number; body: unknown }> => {
    const reply = await post(body)
    if (reply.kind === 'unknown') {
      const message = `the node at port ${new URL(rpcUrl).port} does not answer`
      throw new ControlError(503, 'NODE_UNAVAILABLE', message, reply.cause)
    }
    return { status: reply.status, body: parseExact(reply.text) }
  }

  return {
    async call(method, params = []) {
      const { status, body } = await send({ jsonrpc: '2.0', id: 0, method, params })
      return resultOf(method, toAnswer(status, body, 0))
    },
    async batch(calls) {
      if (calls.length === 0) return []
      const requests = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
      const { status, body } = await send(requests)
      const replies = new Map(
        (Array.isArray(body) ? body : []).map((reply: { id?: unknown } | null) => [reply?.id, reply]),
      )
      return requests.map(({ method, id }) => resultOf(method, toAnswer(status, replies.get(id), id)))
    },
    close: () => void close(),
  }
}

function resultOf(method: string, answer: RpcAnswer): unknown {
  if (answer.kind === 'unknown')
    throw new ControlError(503, 'NODE_UNAVAILABLE', `${method}: the node gave ${answer.reason}`)
  return unwrapAnswer(method, answer)
}

export function rethrowRpcError(error: unknown): never {
  if (error instanceof RpcError)
    throw new ControlError(409, 'NODE_REFUSED', `the node rejected the request: ${error.message}`, error)
  throw error
}
