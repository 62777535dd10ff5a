import type { OutputStore } from '../../../exchange/ports/store/outputs.ts'
import { hasRow, type Sql } from '../core/database.ts'

const FREE = `from coins c
  where c.network = $1 and c.reserved_by is null and c.spent_by is null and not c.quarantined and c.block_height is not null
    and (c.deposit_id is null or (select d.status from deposits d where d.id = c.deposit_id) = 'credited')`

export function createOutputStore(sql: Sql): OutputStore {
  return {
    async countUseful(network, minUnits) {
      const [row] = await sql.query<{ count: number }>(
        `select ((select count(*) ${FREE} and c.units >= $2::numeric)
           + (select count(*) from transactions t where t.network = $1 and t.state = 'live' and not exists (
                select 1 from attempts a where a.transaction_id = t.id and a.block_height is not null)))::int as count`,
        [network, minUnits],
      )
      return row?.count ?? 0
    },
    async freeUnits(network) {
      const [row] = await sql.query<{ units: string }>(`select coalesce(sum(c.units), 0) as units ${FREE}`, [network])
      return BigInt(row?.units ?? 0)
    },
    // A locked row is being signed.
    async voidOverdueConsolidations(network, afterMs) {
      const rows = await sql.query<{ id: string }>(
        `update payouts set state = 'void' where id in (select id from payouts where network = $1 and purpose = 'consolidate'
           and state = 'reserved' and created_at < clock_timestamp() - $2::bigint * interval '1 millisecond'
           for no key update skip locked) returning id`,
        [network, afterMs],
      )
      return rows.map(({ id }) => id)
    },
    isPlanned: (network, withinMs) =>
      hasRow(
        sql,
        `select 1 from payouts where network = $1 and purpose in ('split', 'consolidate')
           and (state in ('reserved', 'signed') or created_at > clock_timestamp() - $2::bigint * interval '1 millisecond') limit 1`,
        [network, withinMs],
      ),
  }
}
