import type { BitcoinParameters } from '../../../core/domain/network.ts'
import type { Transfer } from '../../../exchange/ports/chain.ts'
import { firstAnswer } from '../shared/agreement.ts'
import type { BitcoinNode } from './rpc.ts'
import { transfersOf } from './scan.ts'

/** Transactions looked up per call; the rest wait for the next call. */
const LOOKUPS_MAX = 500
const LOOKUPS_PARALLEL = 8
/** Transaction ids read from the mempool. Deposits beyond this limit are first seen in their block. */
const TXIDS_MAX = 300_000

/**
 * Unconfirmed transfers from the first node that answers; never credited. Looks up new arrivals first, then the backlog of
 * a start or a full mempool.
 */
export function createMempoolReader(parameters: BitcoinParameters, nodes: readonly BitcoinNode[]) {
  let previous: ReadonlySet<string> = new Set()
  let backlog: readonly string[] = []

  return async (): Promise<readonly Transfer[]> => {
    const { node, txids } = await firstAnswer(nodes, async (node) => ({ node, txids: await node.mempool() }))
    const current = new Set(txids.slice(0, TXIDS_MAX))
    const arrivals = [...current].filter((txid) => !previous.has(txid))
    const queue = [...arrivals, ...backlog.filter((txid) => current.has(txid))]
    const batch = queue.slice(0, LOOKUPS_MAX)
    const transfers: Transfer[] = []
    for (let from = 0; from < batch.length; from += LOOKUPS_PARALLEL) {
      const transactions = await Promise.all(batch.slice(from, from + LOOKUPS_PARALLEL).map(node.transaction))
      // null: mined or dropped meanwhile. The scan of its block reports a mined one.
      for (const transaction of transactions)
        if (transaction !== null) transfers.push(...transfersOf(parameters, transaction))
    }
    // Updated last, so that the next call repeats a failed one.
    previous = current
    backlog = queue.slice(LOOKUPS_MAX)
    return transfers
  }
}
