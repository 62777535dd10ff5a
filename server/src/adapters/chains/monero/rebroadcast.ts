import { AppError } from '../../../core/domain/errors.ts'
import type { ChainSender, RebroadcastResult } from '../../../exchange/ports/chain.ts'
import type { MoneroNode } from './node.ts'
import type { PoolEntry } from './pool.ts'
import { fromHex, parseTransaction } from './transaction.ts'

/** Blocks that a payment may wait in a pool before a person is told. */
const PATIENCE_BLOCKS = 10
/** The youngest output that may be spent, or stand in a ring (CRYPTONOTE_DEFAULT_TX_SPENDABLE_AGE). */
const RING_AGE_BLOCKS = 10
const REMEMBERED_MAX = 1_000

type Ours = Readonly<{ txHash: string; raw: string }>
type Seen = Readonly<{ head: number; outcome: 'waits' | 'offered' | 'restricted' | 'silent' }>

/**
 * monerod before 0.18.4 looks once at what waits in its pool: where a reorganisation has made a ring too young, or taken one
 * of its outputs, it notes the block and never looks again while that block stays (tx_memory_pool::is_transaction_ready_to_go),
 * and refuses whatever else spends the same. Later ones look again at every block.
 *
 * So what failed is taken out of that pool, by its id, once its ring is old enough, and offered again: the same bytes. Where
 * outputs of the ring are gone for good the node refuses them, and it is as if it had never had them.
 */
export function createRebroadcast(nodes: readonly MoneroNode[]): NonNullable<ChainSender['rebroadcast']> {
  const since = new Map<string, { first: number; last: number }>()
  return async (ours): Promise<RebroadcastResult> => {
    const seen = await Promise.all(nodes.map((node) => look(node, ours)))
    if (seen.some(({ outcome }) => outcome === 'offered')) {
      since.delete(ours.txHash)
      return { kind: 'rebroadcast' }
    }
    const heads = seen.filter(({ outcome }) => outcome !== 'silent').map(({ head }) => head)
    if (heads.length === 0) return { kind: 'waiting' }
    const blocks = waited(since, ours.txHash, Math.max(...heads))
    if (blocks < PATIENCE_BLOCKS) return { kind: 'waiting' }
    const closed = nodes.filter((_, at) => seen[at]?.outcome === 'restricted').map(({ host }) => host)
    return { kind: 'unmined', blocks, remedy: remedyFor(ours.txHash, closed) }
  }
}

/** Blocks since it was first seen to wait. Seen again after a while in which nobody looked, it was in a block meanwhile. */
function waited(since: Map<string, { first: number; last: number }>, txHash: string, head: number): number {
  const known = since.get(txHash)
  const first = known !== undefined && head - known.last <= PATIENCE_BLOCKS ? Math.min(known.first, head) : head
  if (known === undefined && since.size >= REMEMBERED_MAX) since.clear()
  since.set(txHash, { first, last: head })
  return head - first
}

function remedyFor(txHash: string, closed: readonly string[]): string {
  if (closed.length === 0)
    return 'the nodes named in the configuration see nothing wrong with it: it waits for miners, who may have taken it out of their pools'
  return `${closed.join(', ')} only answers restricted calls: where it runs, "monerod flush_txpool ${txHash}" takes this one payment out of its pool, and the house offers the same payment again by itself`
}

async function look(node: MoneroNode, ours: Ours): Promise<Seen> {
  try {
    const [entry, { height: head }] = [await node.poolEntry(ours.txHash), await node.head()]
    if (entry === 'restricted') return { head, outcome: 'restricted' }
    if (entry === null || !(await isGivenUp(node, entry, head))) return { head, outcome: 'waits' }
    if (!(await isRipe(node, ours, entry, head))) return { head, outcome: 'waits' }
    if ((await node.flush(ours.txHash)) === 'restricted') return { head, outcome: 'restricted' }
    // What it answers is seen by the next look: a node that has it not is offered it as always.
    await node.send(ours.raw)
    return { head, outcome: 'offered' }
  } catch (error) {
    if (error instanceof AppError && error.retryable) return { head: 0, outcome: 'silent' }
    throw error
  }
}

/** Not on its top block, which a later node looks beyond by itself, and while the block stays on its chain. */
async function isGivenUp(node: MoneroNode, { failed }: PoolEntry, head: number): Promise<boolean> {
  return failed !== null && failed.height < head && (await node.hashAt(failed.height)) === failed.hash
}

/** Every output of its rings may be named now; or one of them has been gone for long. */
async function isRipe(node: MoneroNode, { raw }: Ours, { failed }: PoolEntry, head: number): Promise<boolean> {
  const rings = parseTransaction(fromHex(raw), null)?.rings ?? []
  const outputs = await node.outputs([...new Set(rings.flat())])
  if (outputs === null) return failed !== null && head >= failed.height + PATIENCE_BLOCKS
  return outputs.every(({ height, unlocked }) => unlocked && height + RING_AGE_BLOCKS <= head + 1)
}
