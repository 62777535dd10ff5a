import type { AssetId } from '../../domain/asset.ts'
import type { Account } from '../../domain/ledger/chart.ts'
import type { JournalEntry } from '../../domain/ledger/journal.ts'

export interface Ledger {
  /** Writes an entry. False if an entry with this id exists, which makes a repeat harmless. */
  post(entry: JournalEntry): Promise<boolean>
  balance(account: Account, assetId: AssetId): Promise<bigint>
  /** Units that a liability owes. Locks its balance until the end of the transaction. */
  lockOwed(account: Account, assetId: AssetId): Promise<bigint>
  /** Units that we owe an exchange, less what its payouts have reserved or signed. */
  unreserved(exchangeId: string, assetId: AssetId): Promise<bigint>
  /** Units of network fees that these entries charged to a customer in this asset. */
  chargedFees(entryIds: readonly string[], assetId: AssetId): Promise<bigint>
  entry(id: string): Promise<JournalEntry | null>
  /** Non-zero balances of an account by asset. */
  balances(account: Account): Promise<ReadonlyMap<AssetId, bigint>>
}
