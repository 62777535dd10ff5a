import type { AssetId } from '../../../core/domain/asset.ts'
import { exchangeAccount } from '../../../core/domain/ledger/entries.ts'
import type { Posting } from '../../../core/domain/ledger/journal.ts'
import type { Ledger } from '../../../core/ports/store/ledger.ts'
import { hasRow, type RowOf, type Sql } from './database.ts'

export function createLedger(sql: Sql): Ledger {
  return {
    async post(entry) {
      if (entry.postings.length === 0) return false
      return hasRow(
        sql,
        `with entry as (
           insert into journal (id, event, exchange_id) values ($1, $2, $3) on conflict (id) do nothing returning id
         )
         insert into postings (journal_id, position, debit, credit, asset_id, units)
         select entry.id, p.position, p.debit, p.credit, p.asset_id, p.units
         from entry, unnest($4::int[], $5::text[], $6::text[], $7::text[], $8::numeric[]) as p (position, debit, credit, asset_id, units)
         returning 1`,
        [
          entry.id,
          entry.event,
          entry.exchangeId,
          entry.postings.map((_, position) => position),
          entry.postings.map((posting) => posting.debit),
          entry.postings.map((posting) => posting.credit),
          entry.postings.map((posting) => posting.assetId),
          entry.postings.map((posting) => posting.units.toString()),
        ],
        'post-entry',
      )
    },
    entry: (id) => findEntry(sql, id),
    async chargedFees(entryIds, assetId) {
      const [row] = await sql.query<{ units: string }>(
        `select coalesce(sum(units), 0) as units from postings
         where journal_id = any($1::text[]) and asset_id = $2 and credit = 'income:network-fee'`,
        [entryIds, assetId],
      )
      return BigInt(row?.units ?? 0)
    },
    async balance(account, assetId) {
      const [row] = await sql.query<{ units: string }>(
        'select units from balances where account = $1 and asset_id = $2',
        [account, assetId],
        'find-balance',
      )
      return row ? BigInt(row.units) : 0n
    },
    async lockOwed(account, assetId) {
      const [row] = await sql.query<{ units: string }>(
        'select -units as units from balances where account = $1 and asset_id = $2 for no key update',
        [account, assetId],
      )
      return BigInt(row?.units ?? 0)
    },
    async unreserved(exchangeId, assetId) {
      const [row] = await sql.query<{ units: string }>(
        'select -units - promised as units from balances where account = $1 and asset_id = $2',
        [exchangeAccount(exchangeId), assetId],
      )
      return BigInt(row?.units ?? 0)
    },
    async balances(account) {
      const rows = await sql.query<{ asset_id: AssetId; units: string }>(
        'select asset_id, units from balances where account = $1 and units <> 0',
        [account],
      )
      return new Map(rows.map((row) => [row.asset_id, BigInt(row.units)]))
    },
  }
}

async function findEntry(sql: Sql, id: string): ReturnType<Ledger['entry']> {
  const rows = await sql.query<RowOf<Posting, 'units'> & { event: string; exchangeId: string | null }>(
    `select j.event, j.exchange_id as "exchangeId", p.debit, p.credit, p.asset_id as "assetId", p.units
     from journal j join postings p on p.journal_id = j.id where j.id = $1 order by p.position`,
    [id],
  )
  const [first] = rows
  if (!first) return null
  const { event, exchangeId } = first
  const postings = rows.map(({ debit, credit, assetId, units }) => ({ debit, credit, assetId, units: BigInt(units) }))
  return { id, event, exchangeId, postings }
}
