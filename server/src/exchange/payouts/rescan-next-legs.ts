import { RESCAN_BLOCKS_MAX } from '../operations/request-rescan.ts'
import type { Chain } from '../ports/chain.ts'
import type { StoreTx } from '../ports/store/store.ts'

/**
 * Has blocks read again if a payment between two legs is confirmed and its deposit is not recorded: the transaction was imported from a
 * signing journal after its block had been read. The blocks above it may spend its output. One alarm per leg, until it goes on.
 */
export async function rescanNextLegs(
  tx: StoreTx,
  { network: { id: network, finalityBlocks } }: Chain,
  transactionId: string,
  height: number,
): Promise<void> {
  const cursor = await tx.chainLog.cursor(network)
  // The watcher reads the block later, and records the deposit then.
  if (cursor === null || cursor.height < height) return
  const legs = await tx.recovery.listUnrecordedLegs(transactionId)
  if (legs.length === 0) return
  const finalHeight = Math.min(cursor.height - finalityBlocks + 1, height + RESCAN_BLOCKS_MAX - 1)
  const rescan = await tx.rescans.begin(network, height, Math.max(height, finalHeight))
  for (const { executionId, exchangeId } of legs)
    await tx.alarms.raise(`next-leg:${executionId}`, 'the deposit of a next leg is not recorded', {
      ...{ network, exchangeId, transactionId, height },
      next:
        rescan === null
          ? `another rescan runs; then: swapyard rescan ${network} from block ${height} on`
          : 'its blocks are read again',
    })
}
