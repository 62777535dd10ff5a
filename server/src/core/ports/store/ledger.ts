import type { AssetId } from '../../domain/asset.ts'
import type { Account, JournalEntry } from '../../domain/ledger/journal.ts'

export interface Ledger {
  /** Writes the entry; a repeat of the same id is a no-op. True where it was new. */
  post(entry: JournalEntry): Promise<boolean>
  balance(account: Account, assetId: AssetId): Promise<bigint>
  /** What an exchange is owed of an asset beyond what is reserved or signed for it already. */
  unreserved(exchangeId: string, assetId: AssetId): Promise<bigint>
  entry(id: string): Promise<JournalEntry | null>
  /** All non-zero balances of an account, by asset. */
  balances(account: Account): Promise<ReadonlyMap<AssetId, bigint>>
}
