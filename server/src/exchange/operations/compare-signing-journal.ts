import type { Log } from '../../lib/log.ts'
import type { SignerJournal } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'

/** Pause of all payouts: no worker signs on any network. Deposits and quotes continue. */
export const PAYOUTS_PAUSE = 'payouts:all'
export const SIGNING_JOURNAL_ALARM = 'database:older'
/** A start reads the whole journal, a gigabyte in some seconds. */
const JOURNAL_BYTES_MAX = 8 * 1024 ** 3
const LISTED_MAX = 50

type CompareDeps = Readonly<{
  store: Store
  journal: SignerJournal
  log: Log
  /** For metrics. */
  onSize?(bytes: number): void
}>

/**
 * Compares the database with this signer's journal (I-37). A database that lacks a release was restored from a backup or
 * lost transactions in a failover, and would pay again. Then payouts are paused until the operator acknowledges the missing
 * releases. Returns whether both agree. A backup lacks the newest releases: these are compared each minute, all at a start.
 */
export function createCompareJournal(deps: CompareDeps) {
  const { store, journal, log } = deps
  return async function compareJournal(extent: 'all' | 'newest'): Promise<boolean> {
    await reportSize(deps)
    const journalGeneration = journal.generation()
    const { generation, reasons } = await store.transaction(async (tx) => {
      const current = await tx.signingJournal.generation()
      const problems: string[] = []
      if (current.hasMoved) problems.push('the database cluster or its WAL timeline has changed')
      if (journalGeneration !== null && !(await tx.signingJournal.recognizesGeneration(journalGeneration)))
        problems.push('the signing journal has a later generation than the database')
      const missingTxHashes = new Set<string>()
      for await (const releases of extent === 'all' ? journal.allReleases() : [journal.newestReleases()])
        for (const txHash of await tx.signingJournal.recordMissing(releases)) missingTxHashes.add(txHash)
      if (missingTxHashes.size > 0)
        await tx.signingJournal.storeForImport(await journal.releasedTransactions(missingTxHashes))
      const missing = await tx.signingJournal.listUnacknowledged(LISTED_MAX)
      if (missing.length > 0) problems.push('the database lacks payouts that the signer released')
      if (problems.length > 0) {
        await tx.pauses.pause(PAYOUTS_PAUSE, 'database and signing journal differ', 'signer')
        await tx.alarms.raise(SIGNING_JOURNAL_ALARM, 'payouts are paused: the database was restored or failed over', {
          reasons: problems,
          missing: missing.map(({ payoutId, network, txHash, assetId, address, units }) => ({
            payoutId,
            network,
            txHash,
            assetId,
            address,
            units: units.toString(),
          })),
          next: 'swapyard signer missing',
        })
      }
      return { generation: current.generation, reasons: problems }
    })
    if (reasons.length > 0) {
      log.error({ reasons, next: 'swapyard signer missing' }, 'payouts are paused: database and signing journal differ')
      return false
    }
    if (journalGeneration !== generation) await journal.recordGeneration(generation)
    return true
  }
}

async function reportSize({ store, journal, onSize }: Omit<CompareDeps, 'log'>): Promise<void> {
  const bytes = journal.bytes()
  onSize?.(bytes)
  if (bytes > JOURNAL_BYTES_MAX)
    await store.alarms.raise('journal:size', 'the signing journal of a worker makes its starts slow', { bytes })
}
