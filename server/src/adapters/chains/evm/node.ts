import { AppError } from '../../../core/domain/errors.ts'
import { blockHash, blockHeight, bytes, list } from './replies.ts'
import { createRpc, failureOf, type Rpc, type RpcOptions, refusalOf } from './rpc.ts'

export type TraceMethod = 'trace_block' | 'debug_traceBlockByHash'

/** What a node can be asked besides the standard methods. */
export type Capabilities = Readonly<{ traces: TraceMethod | null; blockReceipts: boolean }>

export type EvmNode = Rpc & {
  /** Probed at first use, and again now and then where something was missing. */
  capabilities(): Promise<Capabilities>
}

/** Something an operator should know: the chain is read with less certainty than it could be. */
export type EvmNote = Readonly<{
  kind: 'traces-missing' | 'state-pruned'
  node: string
  detail: string
}>
export type Note = (note: EvmNote) => void

/** A node that offered no traces or receipts of blocks is asked again after so many blocks: nodes are reconfigured. */
const PROBE_AGAIN_AFTER = 500

export function createNode(name: string, url: string, chainId: number, options: RpcOptions): EvmNode {
  const rpc = createRpc(name, url, chainId, options)
  let probed: Promise<Capabilities> | null = null
  let asked = 0

  async function offers(): Promise<Capabilities> {
    if (asked++ % PROBE_AGAIN_AFTER === 0) probed = null
    probed ??= probe(rpc).catch((error: unknown) => {
      probed = null
      throw error
    })
    const known = await probed
    // Complete answers are kept; incomplete ones only until the count runs out.
    if (known.traces !== null && known.blockReceipts) asked = 1
    return known
  }

  return Object.freeze({ ...rpc, offers })
}

async function probe(rpc: Rpc): Promise<Capabilities> {
  const latest = await rpc.ask('eth_getBlockByNumber', ['latest', false], (reply) => ({
    hash: blockHash(reply),
    height: blockHeight(reply),
  }))
  const isOffered = (method: string, params: readonly unknown[]) => offered(rpc, method, params)
  const byHash: TraceMethod = 'debug_traceBlockByHash'
  const flat: TraceMethod = 'trace_block'
  const traces = (await isOffered(flat, [hex(latest.height)]))
    ? flat
    : (await isOffered(byHash, [latest.hash, callTracer]))
      ? byHash
      : null
  return { traces, blockReceipts: await isOffered('eth_getBlockReceipts', [latest.hash]) }
}

/** `callTracer` without the calls' logs: who moved how much is all that is read. */
export const callTracer = { tracer: 'callTracer', tracerConfig: { onlyTopCall: false, withLog: false } }

/** A list is a yes. A structured refusal or a 4xx is a no for now; silence is neither, and fails. */
async function offered(rpc: Rpc, method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await rpc.ask(
      method,
      params,
      list(() => null),
    )
    return true
  } catch (error) {
    const status = failureOf(error)?.status ?? 0
    const isNo = refusalOf(error) !== null || failureOf(error)?.isTooLarge === true
    if (isNo || (status >= 400 && status < 500 && status !== 408 && status !== 429)) return false
    throw error
  }
}

export function hex(height: number | bigint): `0x${string}` {
  return `0x${height.toString(16)}`
}

/** The same question to every node; one that fails fails all: what moves money is believed only where all agree. */
export function askEveryNode<T>(nodes: readonly EvmNode[], ask: (node: EvmNode) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(nodes.map(ask))
}

/** The first node that answers, in their order; the last failure where none does. */
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

/** `eth_call` at a block; a call that reverts is a refusal of the node. */
export function ethCall(node: EvmNode, call: Readonly<Record<string, string>>, at: string): Promise<`0x${string}`> {
  return node.ask('eth_call', [call, at], bytes)
}
