import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { NodeNote } from '../../../core/ports/chain.ts'
import { createTtlCache } from '../../../lib/ttl-cache.ts'
import { blockHash, blockHeight, bytes, list } from './replies.ts'
import { createRpc, failureOf, type Rpc, type RpcOptions, refusalOf } from './rpc.ts'

export type TraceMethod = 'trace_block' | 'debug_traceBlockByHash'

/** The optional methods that a node supports. */
export type Capabilities = Readonly<{ traces: TraceMethod | null; blockReceipts: boolean }>

export type EvmNode = Rpc & {
  /** Probed at first use; if something was missing, again after `PROBE_INTERVAL_CALLS` calls. */
  capabilities(): Promise<Capabilities>
  /** Counts a request that got no reply in time, by a name for its kind; returns the count of the last ten minutes. */
  countTimeout(kind: string): number
}

/** Receives notes for the operator. */
export type Note = (note: NodeNote) => void

const TIMEOUT_MEMORY_MS = 600_000
const TIMEOUT_KINDS_MAX = 100

/** A node without traces or block receipts is probed again after this many blocks, because operators reconfigure nodes. */
const PROBE_INTERVAL_CALLS = 500

export function createNode(name: string, url: NodeEndpoint, chainId: number, options: RpcOptions): EvmNode {
  const rpc = createRpc(name, url, chainId, options)
  let cachedProbe: Promise<Capabilities> | null = null
  let calls = 0

  async function capabilities(): Promise<Capabilities> {
    if (calls++ % PROBE_INTERVAL_CALLS === 0) cachedProbe = null
    cachedProbe ??= probe(rpc).catch((error: unknown) => {
      cachedProbe = null
      throw error
    })
    const result = await cachedProbe
    // A complete result stays cached for ever.
    if (result.traces !== null && result.blockReceipts) calls = 1
    return result
  }

  const timeouts = createTtlCache<string, { count: number }>({
    max: TIMEOUT_KINDS_MAX,
    ttlMs: TIMEOUT_MEMORY_MS,
    now: Date.now,
  })
  function countTimeout(kind: string): number {
    const count = (timeouts.get(kind)?.count ?? 0) + 1
    timeouts.set(kind, { count })
    return count
  }

  return Object.freeze({ ...rpc, capabilities, countTimeout })
}

async function probe(rpc: Rpc): Promise<Capabilities> {
  const latest = await rpc.ask('eth_getBlockByNumber', ['latest', false], (reply) => ({
    hash: blockHash(reply),
    height: blockHeight(reply),
  }))
  const byHash: TraceMethod = 'debug_traceBlockByHash'
  const flat: TraceMethod = 'trace_block'
  const traces = (await supports(rpc, flat, [hex(latest.height)]))
    ? flat
    : (await supports(rpc, byHash, [latest.hash, callTracer]))
      ? byHash
      : null
  return { traces, blockReceipts: await supports(rpc, 'eth_getBlockReceipts', [latest.hash]) }
}

/** Options of `callTracer`, without logs, which we do not read. */
export const callTracer = { tracer: 'callTracer', tracerConfig: { onlyTopCall: false, withLog: false } }

/** True for a list; false for a JSON-RPC error, an oversized reply or a 4xx status. Throws without an answer. */
async function supports(rpc: Rpc, method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await rpc.ask(
      method,
      params,
      list(() => null),
    )
    return true
  } catch (error) {
    const status = failureOf(error)?.status ?? 0
    const isRefused = refusalOf(error) !== null || failureOf(error)?.isTooLarge === true
    if (isRefused || (status >= 400 && status < 500 && status !== 408 && status !== 429)) return false
    throw error
  }
}

export function hex(height: number | bigint): `0x${string}` {
  return `0x${height.toString(16)}`
}

/** Makes the same call to every node. Fails if one node fails, because decisions that move money require all nodes. */
export function askEveryNode<T>(nodes: readonly EvmNode[], ask: (node: EvmNode) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(nodes.map(ask))
}

/** The answer of the first node that succeeds, in order; throws the last failure if none does. */
export async function askFirstNode<T>(nodes: readonly EvmNode[], ask: (node: EvmNode) => Promise<T>): Promise<T> {
  let last: unknown
  for (const node of nodes) {
    try {
      return await ask(node)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      last = error
    }
  }
  throw last
}

/** `eth_call` at a block. A revert is a NodeRefusal. */
export function ethCall(node: EvmNode, call: Readonly<Record<string, string>>, at: string): Promise<`0x${string}`> {
  return node.ask('eth_call', [call, at], bytes)
}
