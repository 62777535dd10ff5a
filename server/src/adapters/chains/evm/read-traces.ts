import { AppError } from '../../../core/domain/errors.ts'
import { callTracer, type EvmNode, hex, type Note, type TraceMethod } from './node.ts'
import { type BlockReply, blockHash, count, fields, list } from './replies.ts'
import { failureOf, isTimeout, isTransient, refusalOf, unavailable } from './rpc.ts'
import { isSigned } from './signed.ts'
import { type BlockTraces, flatTraces, nestedTraces } from './traces.ts'

/** A node may need this long to trace a new block. */
const TRACE_DELAY_MS = 10_000
/** Failed reads of a block's traces after which the block itself may be the cause. */
const FAILURES_MAX = 3
const isTraceDue = (block: BlockReply): boolean => Date.now() - block.time * 1000 > TRACE_DELAY_MS

/** null if the node has no traces of this block: a block that is too large to trace must not stop the watcher. */
export async function readTraces(node: EvmNode, block: BlockReply, note: Note): Promise<BlockTraces | null> {
  const { traces: method } = await node.capabilities()
  if (method === null) return null
  const read = (): Promise<BlockTraces | null> => askTraces(node, method, block)
  const traces = await read().catch(async (error: unknown) => {
    if (isFinal(error)) return null
    // A lost trace is a lost deposit of a contract: failures count for each block alone, and a node that traces nothing is waited for.
    const isRepeated = mayPass(error) && node.countTimeout(`traces ${block.hash}`) >= FAILURES_MAX
    if (!isRepeated || !(await tracesAnother(node, method, block))) throw error
    // Once more, now that the node is known to trace: it may have been down until a moment ago.
    return read().catch((again: unknown) => {
      if (isFinal(again) || mayPass(again)) return null
      throw again
    })
  })
  if (traces === null) noteMissing(node, block, note)
  return traces
}

/** Whether the traces are those of every transaction that succeeded. Throws while the node may need time for the others. */
export function checkTraced(
  node: EvmNode,
  block: BlockReply,
  { untraced }: BlockTraces,
  outcomes: ReadonlyMap<string, boolean>,
  note: Note,
): boolean {
  // A failed transaction transfers nothing.
  if (untraced.every((txHash) => outcomes.get(txHash) === false)) return true
  if (!isTraceDue(block)) throw unavailable(`${node.name} cannot yet trace block ${block.height}`)
  noteMissing(node, block, note)
  return false
}

function noteMissing(node: EvmNode, block: BlockReply, note: Note): void {
  note({ kind: 'traces-missing', node: node.name, detail: `block ${block.height} ${block.hash}` })
}

/** null if the node answers that it has none. */
async function askTraces(node: EvmNode, method: TraceMethod, block: BlockReply): Promise<BlockTraces | null> {
  const traces =
    method === 'trace_block'
      ? await node.ask(method, [hex(block.height)], flatTraces(block.hash))
      : await node.ask(method, [block.hash, callTracer], nestedTraces(block.transactions.map((tx) => tx.hash)))
  // Some nodes return an empty list for blocks before their own start.
  const answered = new Set([...traces.outcomes.keys(), ...traces.untraced])
  const isComplete = block.transactions.every((tx) => !isSigned(tx) || answered.has(tx.hash))
  if (!isComplete && !(answered.size === 0 && isTraceDue(block)))
    throw unavailable(`${node.name} traced only a part of block ${block.height}`)
  return isComplete ? traces : null
}

const isFinal = (error: unknown): boolean => {
  const refusal = refusalOf(error)
  return (refusal !== null && !isTransient(refusal)) || failureOf(error)?.isTooLarge === true
}

const mayPass = (error: unknown): boolean => isTimeout(error) || refusalOf(error) !== null

/** Newest blocks among which one with transactions is sought. */
const OTHERS_MAX = 10

/** Whether the node traces another block now, so that its tracing works: the newest one that has transactions. */
async function tracesAnother(node: EvmNode, method: TraceMethod, block: BlockReply): Promise<boolean> {
  try {
    const newest = await node.ask('eth_blockNumber', [], count)
    for (let height = newest; height > Math.max(0, newest - OTHERS_MAX); height--) {
      const other = await node.ask('eth_getBlockByNumber', [hex(height), false], (reply) => ({
        hash: blockHash(reply),
        size: list(() => null)(fields(reply)['transactions']).length,
      }))
      if (other.hash === block.hash || other.size === 0) continue
      const params = method === 'trace_block' ? [hex(height)] : [other.hash, callTracer]
      return (
        (
          await node.ask(
            method,
            params,
            list(() => null),
          )
        ).length > 0
      )
    }
    return false
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
