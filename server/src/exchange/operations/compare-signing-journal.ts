import type { Log } from '../../lib/log.ts'
import type { SignerJournal } from '../ports/signer.ts'
import type { Store } from '../ports/store/store.ts'

/** Everything but deposits and quotes stands: nothing new is signed on any network, by any worker. */
export const PAYOUTS_PAUSE = 'payouts:all'
export const SIGNING_JOURNAL_ALARM = 'database:older'
/** Releases compared each minute: a backup lacks the newest first. At start all are compared. */
const NEWEST = 2_000
const LISTED = 50

type CompareDeps = Readonly<{ store: Store; memory: SignerJournal; log: Log }>

/**
 * Whether the database still knows what this signer let out. One that does not was restored from a backup, or lost its
 * tail in a failover: it would pay again, so payouts are held until an operator has settled what it forgot.
 */
export function createCompareJournal({ store, memory, log }: CompareDeps) {
  return async function compareJournal(extent: 'all' | 'newest'): Promise<boolean> {
    const seen = memory.generation()
    const { epoch, reasons } = await store.transaction(async (tx) => {
      const life = await tx.signingJournal.generation()
      const found: string[] = []
      if (life.hasMoved) found.push('the database is on another cluster or timeline than before')
      if (seen !== null && !(await tx.signingJournal.recognizesGeneration(seen)))
        found.push('this signer has seen a later life of the database')
      const forgotten = await tx.signingJournal.recordMissing(extent === 'all' ? memory.releases() : memory.releases(NEWEST))
      if (forgotten.length > 0) await tx.signingJournal.storeForImport(await memory.releasedTransactions(new Set(forgotten)))
      const missing = await tx.signingJournal.listUnacknowledged(LISTED)
      if (missing.length > 0) found.push('payouts left the house that the database does not know')
      if (found.length > 0) {
        await tx.pauses.pause(PAYOUTS_PAUSE, 'the database is not the one that the signer knows', 'signer')
        await tx.alarms.raise(SIGNING_JOURNAL_ALARM, 'payouts are held: the database was restored, or has failed over', {
          reasons: found,
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
      return { epoch: life.generation, reasons: found }
    })
    if (reasons.length > 0) {
      log.error({ reasons }, 'payouts are held: the database is not the one that the signer knows')
      return false
    }
    if (seen !== epoch) await memory.recordGeneration(epoch)
    return true
  }
}
