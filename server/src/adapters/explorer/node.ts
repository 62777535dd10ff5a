import { createJsonRpc } from '@swapyard/lib/json-rpc.ts'
import type { Asset } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import { present } from '../../lib/assert.ts'

/** Maximum wait of a page for one call. */
const TIMEOUT_MS = 5_000
const REPLY_BYTES_MAX = 16 * 1024 * 1024

/** An error response of a node, with its JSON-RPC error code. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Calls a node and returns unchecked JSON. Throws `NodeError`, or NETWORK_UNAVAILABLE if the node does not answer. */
export type Node = Readonly<{
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  close(): Promise<void>
}>

export type ExplorerOptions = Readonly<{
  network: Network
  node: Node
  assets: readonly Asset[]
  parse(text: string): string | null
}>

export function openNode(network: Network, url: string): Node {
  const rpc = createJsonRpc({ url, timeoutMs: TIMEOUT_MS, replyBytesMax: REPLY_BYTES_MAX, retries: 1 })
  return {
    call: async (method, ...params) => {
      const answer = await rpc.read(method, params)
      if (answer.kind === 'result') return answer.result
      if (answer.kind === 'error') throw new NodeError(answer.code, answer.message)
      throw new AppError('NETWORK_UNAVAILABLE', `the node of ${network.name} does not answer`, { cause: answer.cause })
    },
    close: () => rpc.close(),
  }
}

/** The currency without a contract. */
export function nativeOf(network: Network, assets: readonly Asset[]): Asset {
  const native = assets.find(({ contract }) => contract === null)
  return present(native, `the native currency of ${network.id}`)
}

export type Fields = Readonly<Record<string, unknown>>

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Converts seconds since 1970. */
export function timeOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000)
}
