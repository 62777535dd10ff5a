import { assert } from '../../../lib/assert.ts'
import type { AssetId } from '../asset.ts'
import type { Account } from './chart.ts'

/** One amount, one debit account, one credit account: a posting is balanced by construction. */
export type Posting = Readonly<{ debit: Account; credit: Account; assetId: AssetId; units: bigint }>

/** The postings of one event. `id` derives from the event, so posting it twice has no effect. */
export type JournalEntry = Readonly<{
  id: string
  event: string
  exchangeId: string | null
  postings: readonly Posting[]
}>

/** Builds an entry and drops its zero postings. */
export function journalEntry(
  id: string,
  event: string,
  exchangeId: string | null,
  postings: readonly Posting[],
): JournalEntry {
  for (const posting of postings) assert(posting.units >= 0n && posting.debit !== posting.credit, `posting of ${id}`)
  return { id, event, exchangeId, postings: postings.filter((posting) => posting.units > 0n) }
}

/** The entry that cancels another. */
export function reversalOf(entry: JournalEntry, id: string, event: string): JournalEntry {
  const postings = entry.postings.map(({ debit, credit, ...rest }) => ({ ...rest, debit: credit, credit: debit }))
  return { id, event, exchangeId: entry.exchangeId, postings }
}
