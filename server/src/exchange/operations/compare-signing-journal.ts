import { randomUUID } from 'node:crypto'
import type { Log } from '../../lib/log.ts'
import type { JournalPosition, ReleasedTransaction, SignerJournal } from '../ports/signer.ts'
import type { ChangeKey, KnownJournal, SigningJournalStore } from '../ports/store/signing-journal.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'

/** Pause of all payouts: no worker signs on any network. Deposits and quotes continue. */
export const PAYOUTS_PAUSE = 'payouts:all'
export const SIGNING_JOURNAL_ALARM = 'database:older'
const JOURNAL_BEHIND_ALARM = 'journal:behind'
const JOURNAL_NEW_ALARM = 'journal:new'
/** One of them is open as long as the signing journals hold payouts. */
export const HOLD_ALARMS = [SIGNING_JOURNAL_ALARM, JOURNAL_BEHIND_ALARM, JOURNAL_NEW_ALARM] as const
/** Of the pause that the comparison sets. A pause by others has another actor, and a release of the hold does not end it. */
export const HOLD_ACTOR = 'signer'
export const HOLD_REASON = 'database and signing journal differ'
/** A start reads the whole journal, a gigabyte in some seconds. */
const JOURNAL_BYTES_MAX = 8 * 1024 ** 3
const LISTED_MAX = 50

/** The whole journal, or the releases that it has in memory. */
type Extent = 'all' | 'newest'

type CompareDeps = Readonly<{
  store: Store
  journal: SignerJournal
  log: Log
  /** Whether an operator must confirm a new journal of a database that knows others. A sandbox loses its journals. */
  areNewConfirmed: boolean
  /** The change address of a key index; null = the network is not configured. */
  changeAddress(network: string, index: number): string | null
  /** For metrics. */
  onSize?(bytes: number): void
}>
/** One comparison. `compared` names the last whole one in this hold. */
type Comparison = CompareDeps & Readonly<{ journalId: string; compared: string | null }>

/**
 * Compares the database with this signer's journal (I-37). A database that lacks a release was restored from a backup or
 * lost transactions in a failover, and would pay again; a journal that is behind its recorded position lost records that
 * protect from that; a new journal beside others may stand in for one that was lost. Then payouts are paused until the operator acknowledges it. Returns whether both agree.
 *
 * A backup lacks the newest releases: these are compared each minute, all at a start and once in each hold. That reads
 * gigabytes, so it happens outside of a transaction, some releases at a time, and pause and alarm are committed as soon as
 * there is a reason.
 */
export function createCompareJournal(deps: CompareDeps) {
  const { journal, log } = deps
  /** Names the last comparison of the whole journal in this hold. */
  let compared: string | null = null
  return async function compareJournal(extent: Extent): Promise<boolean> {
    await reportSize(deps)
    const comparison = { ...deps, compared, journalId: journal.id() ?? (await journal.recordName()) }
    let isWhole = extent === 'all'
    isWhole = (await checkAndHold(comparison)).isWholeNeeded || isWhole
    await recordMissing(comparison, isWhole ? 'all' : 'newest')
    let held = await checkAndHold(comparison)
    if (held.isWholeNeeded && !isWhole) {
      isWhole = true
      await recordMissing(comparison, 'all')
      held = await checkAndHold(comparison)
    }
    const { generation, reasons } = held
    if (isWhole) {
      await registerStoredChange(comparison)
      compared = await recordWhole(comparison)
    }
    if (reasons.length > 0) {
      log.error({ reasons, next: 'swapyard signer missing' }, 'payouts are paused: database and signing journal differ')
      return false
    }
    compared = null
    if (journal.generation() !== generation) await journal.recordGeneration(generation)
    return true
  }
}

/**
 * The present generation, and the reasons for a hold of payouts, which this commits with its alarms. `isWholeNeeded`: the
 * newest releases alone do not say what the database lacks.
 */
function checkAndHold(
  comparison: Comparison,
): Promise<{ generation: string; reasons: readonly string[]; isWholeNeeded: boolean }> {
  const { store, journal, journalId, compared } = comparison
  const [journalGeneration, position] = [journal.generation(), journal.position()]
  return store.transaction(async (tx) => {
    const current = await tx.signingJournal.generation()
    const reasons: string[] = []
    if (current.hasMoved) reasons.push('the database cluster or its WAL timeline has changed')
    if (journalGeneration !== null && !(await tx.signingJournal.recognizesGeneration(journalGeneration)))
      reasons.push('the signing journal has a later generation than the database')
    const missing = await tx.signingJournal.listUnacknowledged(LISTED_MAX)
    if (missing.length > 0) reasons.push('the database lacks payouts that the signer released')
    if (reasons.length > 0)
      await tx.alarms.raise(SIGNING_JOURNAL_ALARM, 'payouts are paused: the database was restored or failed over', {
        reasons,
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
    const known = await recordPosition(tx.signingJournal, comparison)
    if (known.before !== null && isBehind(position, known.before)) {
      reasons.push('the signing journal has lost records')
      await tx.alarms.raise(
        JOURNAL_BEHIND_ALARM,
        'payouts are paused: files of a signing journal are missing or short',
        {
          journal: journalId,
          files: position,
          recorded: known.before,
          next: 'stop the worker and restore its newest files, or swapyard signer release',
        },
      )
    }
    // A new journal says nothing about the database.
    const isWholeNeeded = await tx.signingJournal.needsWholeComparison(journalId, compared, reasons.length > 0)
    if (!known.isConfirmed) {
      reasons.push('the signing journal is new')
      await tx.alarms.raise(JOURNAL_NEW_ALARM, 'payouts are paused: a worker began a new signing journal', {
        journal: journalId,
        next: 'of an added worker: swapyard signer release; else stop the worker and restore the files of its journal',
      })
    }
    // A pause for another reason stays: the release of this hold must not end it.
    if (reasons.length > 0) await tx.pauses.ensurePaused(PAYOUTS_PAUSE, HOLD_REASON, HOLD_ACTOR)
    return { generation: current.generation, reasons, isWholeNeeded }
  })
}

/** A journal that no database has accepted is new; beside others, it may stand in for one that was lost. */
const recordPosition = (
  store: SigningJournalStore,
  { journal, journalId, areNewConfirmed }: Comparison,
): Promise<KnownJournal> =>
  store.recordPosition(journalId, journal.position(), areNewConfirmed && journal.generation() === null)

const isBehind = (position: JournalPosition, recorded: JournalPosition): boolean =>
  position.segments < recorded.segments || (position.segments === recorded.segments && position.bytes < recorded.bytes)

/** Records the releases that the database lacks, and stores their transactions for import. */
async function recordMissing(comparison: Comparison, extent: Extent): Promise<void> {
  const { store, journal, changeAddress } = comparison
  let isUnstored = false
  for await (const releases of extent === 'all' ? journal.allReleases() : [journal.newestReleases()]) {
    const missing = await store.transaction((tx) => tx.signingJournal.recordMissing(releases))
    // A release of the hold waits for a comparison that goes on.
    await recordPosition(store.signingJournal, comparison)
    if (missing.length === 0) continue
    if (!isUnstored) await checkAndHold(comparison)
    isUnstored ||= (await store.signingJournal.selectUnstored(missing)).size > 0
  }
  if (!isUnstored) return
  const select = async (txHashes: readonly string[]) => {
    await recordPosition(store.signingJournal, comparison)
    return store.signingJournal.selectUnstored(txHashes)
  }
  for await (const transactions of journal.releasedTransactions(select))
    await store.transaction(async (tx) => {
      await registerChange(tx, transactions.flatMap(changeOf), changeAddress)
      await tx.signingJournal.storeForImport(transactions)
    })
}

const changeOf = ({ network, intent }: ReleasedTransaction): readonly ChangeKey[] =>
  intent.family === 'bitcoin' && intent.change !== null ? [{ network, index: intent.change.path.index }] : []

/** The restored database lacks the change addresses of these transactions, too: without them a watcher records no change. */
async function registerChange(
  { transactions }: Pick<StoreTx, 'transactions'>,
  keys: readonly ChangeKey[],
  changeAddress: CompareDeps['changeAddress'],
): Promise<void> {
  for (const { network, index } of keys) {
    const address = changeAddress(network, index)
    if (address !== null) await transactions.registerChange(network, index, address)
  }
}

/** An earlier version stored transactions without their change, and a network may not have been configured then. */
const registerStoredChange = ({ store, changeAddress }: Comparison): Promise<void> =>
  store.transaction(async (tx) => registerChange(tx, await tx.signingJournal.listUnregisteredChange(), changeAddress))

async function recordWhole({ store, journalId }: Comparison): Promise<string> {
  const compared = randomUUID()
  await store.signingJournal.recordWholeComparison(journalId, compared)
  return compared
}

async function reportSize({ store, journal, onSize }: CompareDeps): Promise<void> {
  const bytes = journal.bytes()
  onSize?.(bytes)
  if (bytes > JOURNAL_BYTES_MAX)
    await store.alarms.raise('journal:size', 'the signing journal of a worker makes its starts slow', { bytes })
}
