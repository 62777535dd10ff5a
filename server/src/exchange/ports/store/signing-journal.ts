import type { AssetId } from '../../../core/domain/asset.ts'
import type { JournalPosition, PayoutRelease, ReleasedTransaction } from '../signer.ts'

export type MissingRelease = PayoutRelease & Readonly<{ acknowledged: boolean; matchedPayout: string | null }>

export type ImportableTransaction = ReleasedTransaction &
  Readonly<{
    releases: readonly PayoutRelease[]
    /** Its first release, as the database writes it. */
    releasedAt: string
  }>
/** The key of a change output. */
export type ChangeKey = Readonly<{ network: string; index: number }>
export type KnownJournal = Readonly<{ before: JournalPosition | null; isConfirmed: boolean }>
type Place = Pick<ImportableTransaction, 'releasedAt' | 'network' | 'txHash'>
type Conflicting = Pick<ImportableTransaction, 'network' | 'txHash' | 'conflictKey'>

/** The database's side of the comparison with the signers' journals (I-37). One comparison runs at a time. */
export interface SigningJournalStore {
  /** The database generation. `hasMoved`: cluster or WAL timeline changed since it was recorded (restore or failover). */
  generation(): Promise<{ generation: string; hasMoved: boolean }>
  /** Whether the database recorded this generation. Records an unknown one until the operator acknowledges it. */
  recognizesGeneration(generation: string): Promise<boolean>
  /**
   * Records how far a journal has got, and returns what was known of it; a lower position changes only when it was seen. One
   * that is new, of a database that knows others, is unconfirmed until a generation begins.
   */
  recordPosition(journalId: string, position: JournalPosition, isNew: boolean): Promise<KnownJournal>
  /**
   * Whether a worker must compare its whole journal. While it sees a reason for a hold, it must unless the last one that the
   * database knows is `compared`; a database that was restored meanwhile has an earlier one. Then every worker is asked for one.
   */
  needsWholeComparison(journalId: string, compared: string | null, isHeld: boolean): Promise<boolean>
  recordWholeComparison(journalId: string, compared: string): Promise<void>
  /** Journals of workers that run and that were asked for a whole comparison, which has not ended. */
  listUncompared(): Promise<readonly string[]>
  /** Records which of these releases the database lacks, and returns the hashes of their transactions. */
  recordMissing(releases: readonly PayoutRelease[]): Promise<readonly string[]>
  /** The transactions among these that belong to missing releases and are not stored for import. */
  selectUnstored(txHashes: readonly string[]): Promise<ReadonlySet<string>>
  storeForImport(transactions: readonly ReleasedTransaction[]): Promise<void>
  /** Change of stored transactions whose address is not registered. */
  listUnregisteredChange(): Promise<readonly ChangeKey[]>
  /** Stored transactions that are not imported yet, each with its releases; oldest first, after one of them or from the first. */
  listImportable(after: Place | null, limit: number): Promise<readonly ImportableTransaction[]>
  /** Whether a payout of this transaction was released later under another conflict key, or one that is not stored yet. */
  isSuperseded(transaction: Conflicting): Promise<boolean>
  /** Whether a transaction of ours used its nonce and paid nothing (I-38). */
  isCancelled(transaction: Conflicting): Promise<boolean>
  /** Id of the unexpired transaction with this conflict key. */
  findByConflictKey(network: string, conflictKey: string): Promise<string | null>
  /** Marks a transaction as imported. */
  markImported(network: string, txHash: string): Promise<void>
  /** Missing releases that the operator has not acknowledged. */
  listUnacknowledged(limit: number): Promise<readonly MissingRelease[]>
  listMissing(limit: number): Promise<readonly MissingRelease[]>
  /** Whether any release is or was missing. */
  hasMissing(): Promise<boolean>
  /** The last missing release of a payout; null = none. */
  findRelease(payoutId: string): Promise<MissingRelease | null>
  /**
   * Hash of a missing release of this payout, of one of these other payouts, or of any to the same destination; null = none. Of a
   * payout that is approved: of those that it was not held for before, and to no other payout of its destination.
   */
  findEarlierPayment(payout: {
    id: string
    others: readonly string[]
    approved: boolean
    assetId: AssetId
    address: string
    memo: string | null
  }): Promise<string | null>
  /** Determines the id of a deposit's next payout or refund: the deposit on its chain, the leg, the number of earlier payouts. */
  readPayoutOrigin(depositId: string, leg: number): Promise<string>
  /** The same for all payouts of the deposit until now, and for this many further ones. */
  listPayoutOrigins(depositId: string, leg: number, further: number): Promise<readonly string[]>
  /**
   * Begins a generation: acknowledges all missing releases, new journals and journals that are behind, and skips key indexes that
   * the lost part may have used. A rollback does not bring skipped indexes back, so a transaction that is only a rehearsal skips none.
   */
  beginGeneration(options: { skipsIndexes: boolean }): Promise<string>
}
