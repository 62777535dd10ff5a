import { AppError } from '../../core/domain/errors.ts'
import type { Chain, ScannedBlock } from '../ports/chain.ts'
import type { Rescan } from '../ports/store/rescans.ts'
import { combineReadings } from './combine-readings.ts'
import { type RecordBlocksDeps, rulesOf } from './record-blocks.ts'

/** Blocks per call: the newest blocks of the network must not wait for old ones. */
const BLOCKS_MAX = 20
/** Failures in a row that end a rescan, each after a turn of the watcher. */
const FAILURES_MAX = 20

/**
 * Reads blocks again that the operator asked for, from every node, and records the deposits that are missing. The watcher reads
 * a block from one node, which may have lacked a log or a trace. Returns whether blocks are left to read now.
 */
export function createRescanBlocks(deps: RecordBlocksDeps) {
  return async function rescanBlocks(chain: Chain): Promise<boolean> {
    const rescan = await deps.store.rescans.findOpen(chain.network.id)
    if (rescan === null) return false
    const end = Math.min(rescan.nextHeight + BLOCKS_MAX, rescan.toHeight + 1)
    for (let height = rescan.nextHeight; height < end; height++) {
      try {
        await rescanBlock(deps, chain, rescan, height)
      } catch (error) {
        if (!(error instanceof AppError) || !error.retryable) throw error
        deps.log.warn({ network: chain.network.id, height, err: error }, 'a block was not read again')
        await deps.store.rescans.recordFailure(rescan.id, `block ${height}: ${error.message}`, FAILURES_MAX)
        return false
      }
    }
    return end <= rescan.toHeight
  }
}

async function rescanBlock(deps: RecordBlocksDeps, chain: Chain, { id }: Rescan, height: number): Promise<void> {
  const { store, log } = deps
  const network = chain.network.id
  const [first, ...others] = await chain.reader.blockOfEachNode(height)
  if (first === undefined) throw new AppError('NETWORK_UNAVAILABLE', `no node of ${network} has block ${height}`)
  const { block, disputed } = combineReadings([first, ...others] satisfies [ScannedBlock, ...ScannedBlock[]])
  const { found, contradicted } = await store.transaction(async (tx) => {
    const missed = await tx.chainLog.recordMissed(network, block, disputed, rulesOf(deps, chain))
    await tx.rescans.recordBlock(id, height, missed.found)
    return missed
  })
  if (found > 0) log.warn({ network, height, found }, 'deposits were missed by the first reading of the block')
  if (contradicted.length === 0) return
  await store.alarms.raise(`rescan:${network}`, 'nodes contradict each other, or a recorded deposit, about a payment', {
    height,
    txHash: contradicted[0],
  })
}
