import type { BitcoinParameters } from '../../../core/domain/network.ts'
import type { PendingPayment, Transfer } from '../../../exchange/ports/chain.ts'
import { largest } from '../../../lib/bigint.ts'
import { firstAnswer } from '../shared/agreement.ts'
import { isMalformed } from '../shared/replies.ts'
import type { BitcoinNode } from './rpc.ts'
import { transfersOf } from './scan.ts'

/** Time for lookups per call; what is left waits for the next call, so that blocks are read in between, however slow the node is. */
const LOOKUPS_MS = 3_000
const LOOKUPS_PARALLEL = 8
/** Transaction ids read from the mempool. Deposits beyond this limit are first seen in their block. */
const TXIDS_MAX = 300_000

/**
 * Unconfirmed transfers from the first node that answers; never credited. Looks up new arrivals first, then the backlog of
 * a start or a full mempool. `now`: milliseconds of any clock.
 */
export function createMempoolReader(
  parameters: BitcoinParameters,
  nodes: readonly BitcoinNode[],
  now: () => number = () => performance.now(),
) {
  let previous: ReadonlySet<string> = new Set()
  let backlog: readonly string[] = []

  return async (): Promise<readonly Transfer[]> => {
    const { node, txids } = await firstAnswer(nodes, async (node) => ({ node, txids: await node.mempool() }))
    const current = new Set(txids.slice(0, TXIDS_MAX))
    const arrivals = [...current].filter((txid) => !previous.has(txid))
    const queue = [...arrivals, ...backlog.filter((txid) => current.has(txid))]
    const transfers: Transfer[] = []
    const until = now() + LOOKUPS_MS
    let read = 0
    while (read < queue.length && now() < until) {
      const batch = queue.slice(read, read + LOOKUPS_PARALLEL)
      const transactions = await Promise.all(batch.map((txid) => node.transaction(txid).catch(skipMalformed)))
      read += batch.length
      // null: mined or dropped meanwhile. The scan of its block reports a mined one.
      for (const transaction of transactions)
        if (transaction !== null) transfers.push(...transfersOf(parameters, transaction))
    }
    // Updated last, so that the next call repeats a failed one.
    previous = current
    backlog = queue.slice(read)
    return transfers
  }
}

/** One transaction that cannot be read must not hide the others: its block reports it. */
function skipMalformed(error: unknown): null {
  if (!isMalformed(error)) throw error
  return null
}

/** Blocks within which an unconfirmed payment is expected, if it is to count for a fixed rate. */
const PROMPT_BLOCKS = 3

/**
 * Whether an unconfirmed payment stops the clock of a fixed rate: the sender cannot replace it, and it will be in one of the
 * next blocks. Without an estimate the node's own minimum fee decides. null if no node that answers has it in its mempool.
 */
export function createPendingInspector(nodes: readonly BitcoinNode[]) {
  return async (txid: string): Promise<PendingPayment | null> => {
    const answers = await Promise.allSettled(nodes.map((node) => inspect(node, txid)))
    const answered = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    const [failure] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    if (answered.length === 0) throw failure
    const payments = answered.filter((payment) => payment !== null)
    const [first] = payments
    // The latest time: a node whose clock is slow must not make a payment older.
    return first === undefined ? null : { ...first, seenAt: findLatest(payments.map(({ seenAt }) => seenAt)) }
  }
}

const findLatest = (times: readonly (Date | null)[]): Date | null =>
  times.reduce((latest, time) => (latest === null || (time !== null && time > latest) ? time : latest), null)

async function inspect(node: BitcoinNode, txid: string): Promise<PendingPayment | null> {
  const [transaction, entry] = await Promise.all([node.transaction(txid), node.mempoolEntry(txid)])
  if (transaction === null || entry === null) return null
  const [estimate, minimum] = await Promise.all([node.estimateFeeRate(PROMPT_BLOCKS), node.minFeeRate()])
  const rate = largest(estimate ?? 0n, minimum.relay, minimum.mempool)
  const isPrompt = entry.feeUnits * 1_000n >= rate * entry.virtualBytes
  return {
    stopsClock: isPrompt && !transaction.isReplaceable && entry.parents.length === 0,
    spends: transaction.spends,
    seenAt: entry.seenAt,
  }
}
