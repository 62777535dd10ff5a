import type { AssetId } from '../../../core/domain/asset.ts'
import type { Departure, PayoutGround, Release } from '../signer.ts'

export type Forgotten = Release & Readonly<{ acknowledged: boolean; matchedPayout: string | null }>

export type Kept = Departure & Readonly<{ releases: readonly Release[] }>

/** The database's side of the comparison. Inside a transaction, one comparison runs at a time. */
export interface SigningStore {
  /** The database's life; `moved` = it is another cluster or timeline than when this life began. */
  life(): Promise<{ epoch: string; moved: boolean }>
  /** Whether the database had this life, or an operator has settled that it forgot it. Notes it where not. */
  knowsEpoch(epoch: string): Promise<boolean>
  /** Notes which of these releases the database does not have; their transactions. */
  note(releases: readonly Release[]): Promise<readonly string[]>
  keep(departures: readonly Departure[]): Promise<void>
  /** Kept transactions that are not in the database yet, each with what it paid; oldest first. */
  kept(limit: number): Promise<readonly Kept[]>
  /** The transaction, not expired, that has this conflict key. */
  holder(network: string, conflictKey: string): Promise<string | null>
  /** It is in the database again. */
  settle(network: string, txHash: string): Promise<void>
  /** Noted releases that no operator has settled. */
  unsettled(limit: number): Promise<readonly Forgotten[]>
  forgotten(limit: number): Promise<readonly Forgotten[]>
  /** The transaction that a forgotten release paid this payout, or another one to its destination, by; null = none did. */
  paidBefore(payout: { id: string; assetId: AssetId; address: string; memo: string | null }): Promise<string | null>
  /** What the id of a deposit's next payout or refund is made of, for the signer. */
  payoutGround(depositId: string, leg: number): Promise<PayoutGround>
  /** A new life begins: all that was noted is settled by an operator. Indexes of keys begin beyond what was forgotten. */
  begin(): Promise<string>
}
