import type { Network } from '../../core/domain/network.ts'
import { type AuditNote, refused, requireReason } from '../../core/services/audit-note.ts'
import type { Rescan } from '../ports/store/rescans.ts'
import type { Store } from '../ports/store/store.ts'

/** Blocks of one rescan. */
export const RESCAN_BLOCKS_MAX = 10_000

/** Asks the workers to read recorded blocks again. Only final ones: the watcher reads the others again after a reorganisation. */
export async function requestRescan(
  store: Store,
  { id: network, finalityBlocks }: Pick<Network, 'id' | 'finalityBlocks'>,
  { from, to }: Readonly<{ from: number; to: number }>,
  note: AuditNote,
): Promise<Rescan> {
  requireReason(note)
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || to < from)
    throw refused('FROM and TO are heights of blocks, FROM at most TO')
  if (to - from >= RESCAN_BLOCKS_MAX) throw refused(`one rescan reads at most ${RESCAN_BLOCKS_MAX} blocks`)
  const cursor = await store.chainLog.cursor(network)
  if (cursor === null) throw refused(`${network} was never watched`)
  const finalHeight = cursor.height - finalityBlocks + 1
  if (to > finalHeight) throw refused(`block ${to} of ${network} is not final: the last final one is ${finalHeight}`)
  return store.transaction(async (tx) => {
    const rescan = await tx.rescans.begin(network, from, to)
    if (rescan === null) throw refused(`${network} has a rescan that has not ended: wait for it`)
    await tx.auditLog.record({
      ...note,
      act: 'rescan',
      subject: `network:${network}`,
      detail: { rescan: rescan.id, from, to },
      before: null,
      after: { from, to },
    })
    return rescan
  })
}
