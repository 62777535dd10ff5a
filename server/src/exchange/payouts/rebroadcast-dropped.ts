import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'

/** Rebroadcasts pending attempts that a node no longer considers for blocks, or raises an alarm if it cannot (monero). */
export async function rebroadcastDropped(
  { store, log }: Readonly<{ store: Store; log: Log }>,
  chain: Chain,
  { id, network }: OutgoingTransaction,
  pending: readonly Attempt[],
): Promise<void> {
  for (const { txHash, raw } of pending) {
    const result = await chain.sender.rebroadcast?.({ txHash, raw })
    if (result?.kind === 'rebroadcast')
      log.warn({ network, transactionId: id, txHash }, 'a node had dropped a transaction: rebroadcast')
    if (result?.kind === 'unmined') {
      const { blocks, remedy } = result
      await store.alarms.raise(`unmined:${id}`, 'a transaction of ours is in the mempools and not mined', {
        network,
        transactionId: id,
        txHash,
        blocks,
        remedy,
      })
    }
  }
}
