import type { AssetId } from '../../../core/domain/asset.ts'
import type { MonthlySetting, StatementStore } from '../../../core/ports/store/statements.ts'
import { memoOrNull, type RowOf, type Sql } from './database.ts'

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
    async monthlySettings(partnerId) {
      const rows = await sql.query<RowOf<Omit<MonthlySetting, 'memo'>, 'minimumUnits'> & { memo: string }>(
        `select s.asset_id as "assetId", s.minimum as "minimumUnits", r.address, r.memo,
           s.converts_others as "convertsOthers"
         from monthly_payout_settings s join default_recipients r using (partner_id, asset_id)
         where s.partner_id = $1 order by s.asset_id`,
        [partnerId],
      )
      return rows.map((row) => ({ ...row, minimumUnits: BigInt(row.minimumUnits), memo: memoOrNull(row.memo) }))
    },
  }
}
