import type { AssetId } from '../../../core/domain/asset.ts'
import { exchangeAccount } from '../../../core/domain/ledger/entries.ts'
import type { Account } from '../../../core/domain/ledger/journal.ts'
import type { Ledger } from '../../../core/ports/store/ledger.ts'
import type { Sql } from './database.ts'

export function createLedger(sql: Sql): Ledger {
  return {
    async post(entry) {
      if (entry.postings.length === 0) return false
      const rows = await sql.query(
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
      )
      return rows.length > 0
    },
    entry: (id) => findEntry(sql, id),
    async balance(account, assetId) {
      const [row] = await sql.query<{ units: string }>(
        'select units from balances where account = $1 and asset_id = $2',
        [account, assetId],
      )
      return row ? BigInt(row.units) : 0n
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
  const rows = await sql.query<{
    event: string
    exchange_id: string | null
    debit: Account
    credit: Account
    asset_id: AssetId
    units: string
  }>(
    `select j.event, j.exchange_id, p.debit, p.credit, p.asset_id, p.units from journal j join postings p on p.journal_id = j.id
     where j.id = $1 order by p.position`,
    [id],
  )
  const [first] = rows
  if (!first) return null
  const postings = rows.map(({ debit, credit, asset_id, units }) => ({
    debit,
    credit,
    assetId: asset_id,
    units: BigInt(units),
  }))
  return { id, event: first.event, exchangeId: first.exchange_id, postings }
}
