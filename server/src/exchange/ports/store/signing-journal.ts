import type { AssetId } from '../../../core/domain/asset.ts'
import type { ReleasedTransaction, PayoutOrigin, PayoutRelease } from '../signer.ts'

export type MissingRelease = PayoutRelease & Readonly<{ acknowledged: boolean; matchedPayout: string | null }>

export type ImportableTransaction = ReleasedTransaction & Readonly<{ releases: readonly PayoutRelease[] }>

/** The database's side of the comparison. Inside a transaction, one comparison runs at a time. */
export interface SigningJournalStore {
  /** The database's life; `moved` = it is another cluster or timeline than when this life began. */
  generation(): Promise<{ generation: string; hasMoved: boolean }>
  /** Whether the database had this life, or an operator has settled that it forgot it. Notes it where not. */
  recognizesGeneration(generation: string): Promise<boolean>
  /** Notes which of these releases the database does not have; their transactions. */
  recordMissing(releases: readonly PayoutRelease[]): Promise<readonly string[]>
  storeForImport(departures: readonly ReleasedTransaction[]): Promise<void>
  /** Kept transactions that are not in the database yet, each with what it paid; oldest first. */
  listImportable(limit: number): Promise<readonly ImportableTransaction[]>
  /** The transaction, not expired, that has this conflict key. */
  findByConflictKey(network: string, conflictKey: string): Promise<string | null>
  /** It is in the database again. */
  markImported(network: string, txHash: string): Promise<void>
  /** Noted releases that no operator has settled. */
  listUnacknowledged(limit: number): Promise<readonly MissingRelease[]>
  listMissing(limit: number): Promise<readonly MissingRelease[]>
  /** The transaction that a forgotten release paid this payout, or another one to its destination, by; null = none did. */
  findEarlierPayment(payout: { id: string; assetId: AssetId; address: string; memo: string | null }): Promise<string | null>
  /** What the id of a deposit's next payout or refund is made of, for the signer. */
  readPayoutOrigin(depositId: string, leg: number): Promise<PayoutOrigin>
  /** A new life begins: all that was noted is settled by an operator. Indexes of keys begin beyond what was forgotten. */
  beginGeneration(): Promise<string>
}
