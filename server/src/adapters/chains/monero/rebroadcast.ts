import { AppError } from '../../../core/domain/errors.ts'
import type { ChainSender, RebroadcastResult } from '../../../exchange/ports/chain.ts'
import type { MoneroNode } from './node.ts'
import type { PoolEntry } from './pool.ts'
import { fromHex, parseTransaction } from './transaction.ts'

/** Blocks that a transaction may wait in a pool before the operator gets an alarm. */
const PATIENCE_BLOCKS = 10
/** The minimum age of an output that is spent or used in a ring (CRYPTONOTE_DEFAULT_TX_SPENDABLE_AGE). */
const RING_AGE_BLOCKS = 10
/** Transactions in the cache of waiting times. */
const WAITING_MAX = 1_000

type SentTransaction = Readonly<{ txHash: string; raw: string }>
type NodeResult = Readonly<{ head: number; outcome: 'waiting' | 'rebroadcast' | 'restricted' | 'silent' }>
type WaitingSpan = Readonly<{ firstHeight: number; lastHeight: number }>

/**
 * monerod before 0.18.4 checks a pool transaction once. If a reorganisation has made a ring member too young or removed it,
 * monerod records the block of the failed check, does not retry while that block stays on the chain
 * (tx_memory_pool::is_transaction_ready_to_go), and rejects other transactions with the same inputs. Later versions retry at
 * every block.
 *
 * So we flush a failed transaction from the pool by its hash once its ring is old enough, and send the same bytes again. If
 * a ring member is missing for good, the node rejects them, as if it had never had the transaction.
 */
export function createRebroadcast(nodes: readonly MoneroNode[]): NonNullable<ChainSender['rebroadcast']> {
  const spans = new Map<string, WaitingSpan>()
  return async (transaction): Promise<RebroadcastResult> => {
    const results = await Promise.all(nodes.map((node) => repairPool(node, transaction)))
    if (results.some(({ outcome }) => outcome === 'rebroadcast')) {
      spans.delete(transaction.txHash)
      return { kind: 'rebroadcast' }
    }
    const heads = results.filter(({ outcome }) => outcome !== 'silent').map(({ head }) => head)
    if (heads.length === 0) return { kind: 'waiting' }
    const blocks = countWaitingBlocks(spans, transaction.txHash, Math.max(...heads))
    if (blocks < PATIENCE_BLOCKS) return { kind: 'waiting' }
    const restrictedHosts = nodes.filter((_, n) => results[n]?.outcome === 'restricted').map(({ host }) => host)
    return { kind: 'unmined', blocks, remedy: remedyFor(transaction.txHash, restrictedHosts) }
  }
}

/** Blocks since the first call for a waiting transaction. A gap between calls means that it was in a block meanwhile: restart. */
function countWaitingBlocks(spans: Map<string, WaitingSpan>, txHash: string, head: number): number {
  const span = spans.get(txHash)
  const isContinued = span !== undefined && head - span.lastHeight <= PATIENCE_BLOCKS
  const firstHeight = isContinued ? Math.min(span.firstHeight, head) : head
  if (span === undefined && spans.size >= WAITING_MAX) spans.clear()
  spans.set(txHash, { firstHeight, lastHeight: head })
  return head - firstHeight
}

function remedyFor(txHash: string, restrictedHosts: readonly string[]): string {
  if (restrictedHosts.length === 0)
    return 'the configured nodes report no failed check: the transaction waits for a miner, and miners may have dropped it from their pools'
  return `${restrictedHosts.join(', ')} only answers restricted calls: on that machine, run "monerod flush_txpool ${txHash}" to remove this transaction from its pool; then the app sends it again`
}

/** Flushes and sends the transaction again if this node will not mine it and the ring is old enough. */
async function repairPool(node: MoneroNode, transaction: SentTransaction): Promise<NodeResult> {
  try {
    const [entry, { height: head }] = [await node.poolEntry(transaction.txHash), await node.head()]
    if (entry === 'restricted') return { head, outcome: 'restricted' }
    if (entry === null || !(await isAbandoned(node, entry, head))) return { head, outcome: 'waiting' }
    if (!(await canRetry(node, transaction, entry, head))) return { head, outcome: 'waiting' }
    if ((await node.flush(transaction.txHash)) === 'restricted') return { head, outcome: 'restricted' }
    // The answer does not matter: if the node lacks the transaction, it gets the usual broadcast again.
    await node.send(transaction.raw)
    return { head, outcome: 'rebroadcast' }
  } catch (error) {
    if (error instanceof AppError && error.retryable) return { head: 0, outcome: 'silent' }
    throw error
  }
}

/** Whether the check failed at a block below the head that is still on the chain. A failure at the head is retried anyway. */
async function isAbandoned(node: MoneroNode, { failed }: PoolEntry, head: number): Promise<boolean> {
  return failed !== null && failed.height < head && (await node.hashAt(failed.height)) === failed.hash
}

/** Whether all ring members are old enough now, or one has been missing for `PATIENCE_BLOCKS`. */
async function canRetry(
  node: MoneroNode,
  { raw }: SentTransaction,
  { failed }: PoolEntry,
  head: number,
): Promise<boolean> {
  const rings = parseTransaction(fromHex(raw), null)?.rings ?? []
  const outputs = await node.outputs([...new Set(rings.flat())])
  if (outputs === null) return failed !== null && head >= failed.height + PATIENCE_BLOCKS
  return outputs.every(({ height, unlocked }) => unlocked && height + RING_AGE_BLOCKS <= head + 1)
}
