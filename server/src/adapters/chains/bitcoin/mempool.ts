import type { BitcoinParameters } from '../../../core/domain/network.ts'
import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { BitcoinNode } from './rpc.ts'
import { transfersOf } from './scan.ts'

/** Transactions looked up by one call; the others wait for the next. */
const LOOKUPS_MAX = 500
const LOOKUPS_PARALLEL = 8
/** Transaction ids remembered; beyond them the mempool is not followed, and deposits are seen in their blocks. */
const KNOWN_MAX = 300_000

/**
 * Early sightings from the first node that answers: nothing is ever credited by them. What came since the last call is
 * looked up first, then the backlog that a start or a full mempool left. Ids are forgotten with the mempool.
 */
export function createMempoolReader(parameters: BitcoinParameters, nodes: readonly BitcoinNode[]) {
  let known: ReadonlySet<string> = new Set()
  let waiting: readonly string[] = []

  return async (): Promise<readonly Transfer[]> => {
    const { node, txids } = await firstMempool(nodes)
    const listed = new Set(txids.slice(0, KNOWN_MAX))
    const arrived = [...listed].filter((txid) => !known.has(txid))
    const queue = [...arrived, ...waiting.filter((txid) => listed.has(txid))]
    const now = queue.slice(0, LOOKUPS_MAX)
    const transfers: Transfer[] = []
    for (let from = 0; from < now.length; from += LOOKUPS_PARALLEL) {
      const some = await Promise.all(now.slice(from, from + LOOKUPS_PARALLEL).map(node.transaction))
      // Mined or dropped in between: its block will tell.
      for (const transaction of some) if (transaction !== null) transfers.push(...transfersOf(parameters, transaction))
    }
    // Only now: a call that failed is made up for by the next.
    known = listed
    waiting = queue.slice(LOOKUPS_MAX)
    return transfers
  }
}

async function firstMempool(nodes: readonly BitcoinNode[]): Promise<{ node: BitcoinNode; txids: readonly string[] }> {
  let failure: unknown = null
  for (const node of nodes) {
    try {
      return { node, txids: await node.mempool() }
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
