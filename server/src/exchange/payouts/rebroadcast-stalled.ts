import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'

/** Waiting in a pool is not on its way everywhere: what a node will not mine is offered to it again, or a person is told. */
export async function attendPending(
  { store, log }: Readonly<{ store: Store; log: Log }>,
  chain: Chain,
  { id, network }: OutgoingTransaction,
  pending: readonly Attempt[],
): Promise<void> {
  for (const { txHash, raw } of pending) {
    const revival = await chain.sender.rebroadcast?.({ txHash, raw })
    if (revival?.kind === 'rebroadcast')
      log.warn({ network, transactionId: id, txHash }, 'a node had given a payment up: it was offered again')
    if (revival?.kind === 'unmined') {
      const { blocks, remedy } = revival
      await store.alarms.raise(`unmined:${id}`, 'a payment waits in the pools of nodes and is not mined', {
        network,
        txHash,
        blocks,
        remedy,
      })
    }
  }
}
