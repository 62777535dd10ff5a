import type { AssetId } from '../../../core/domain/asset.ts'
import type { StatementStore } from '../../../core/ports/store/statements.ts'
import type { Sql } from './database.ts'

type Row = Readonly<{
  day: string
  asset_id: AssetId
  event: string
  credited: string
  debited: string
  bookings: number
}>

export function createStatementStore(sql: Sql): StatementStore {
  return {
    async movements(partnerId, from, to) {
      const rows = await sql.query<Row>(
        `select to_char(day, 'YYYY-MM-DD') as day, asset_id, event, credited, debited, bookings from partner_days
         where partner_id = $1 and day between $2::date and $3::date order by day, asset_id, event`,
        [partnerId, from, to],
      )
      return rows.map(({ asset_id: assetId, credited, debited, ...row }) => ({
        ...row,
        assetId,
        credited: BigInt(credited),
        debited: BigInt(debited),
      }))
    },
  }
}
