import { partnerAccount } from '../../../core/domain/ledger/entries.ts'
import type {
  DueConversion,
  IntentState,
  MonthlyPayout,
  MonthlyPayoutStore,
  MonthlyTerms,
} from '../../../exchange/ports/store/monthly-payouts.ts'
import { hasRow, memoOrNull, type RowOf, type Sql } from '../core/database.ts'

const MONTH = "date_trunc('month', statement_timestamp() at time zone 'utc')::date"

export function createMonthlyPayoutStore(sql: Sql): MonthlyPayoutStore {
  return {
    listUnconverted: () =>
      sql.query<DueConversion>(
        `select s.partner_id as "partnerId", p.name as partner, to_char(${MONTH}, 'YYYY-MM') as month, s.asset_id as "assetId",
           (select array_agg(o.asset_id) from monthly_payout_settings o where o.partner_id = s.partner_id) as "ownAssets"
         from monthly_payout_settings s join partners p on p.id = s.partner_id and not p.suspended
         where s.converts_others and s.converted_month is distinct from ${MONTH} order by p.name`,
      ),
    async setConverted({ partnerId, assetId, month }) {
      await sql.query(
        `update monthly_payout_settings set converted_month = to_date($3, 'YYYY-MM')
         where partner_id = $1 and asset_id = $2 and converts_others`,
        [partnerId, assetId, month],
      )
    },
    async plan() {
      // `payout_id` is set in the transaction that queues the payout, so no payout to the former address exists.
      await sql.query(
        `update monthly_payouts m set address = r.address, memo = r.memo from default_recipients r
         where m.payout_id is null and m.month = ${MONTH} and r.partner_id = m.partner_id and r.asset_id = m.asset_id
           and (r.address <> m.address or r.memo <> m.memo)`,
      )
      // A liability is a negative balance.
      await sql.query(
        `insert into monthly_payouts (partner_id, month, asset_id, units, address, memo)
         select s.partner_id, ${MONTH}, s.asset_id, -b.units, r.address, r.memo from monthly_payout_settings s
           join partners p on p.id = s.partner_id and not p.suspended
           join default_recipients r on r.partner_id = s.partner_id and r.asset_id = s.asset_id
           join balances b on b.account = $1 || s.partner_id and b.asset_id = s.asset_id and -b.units >= s.minimum
         where not s.converts_others or s.converted_month = ${MONTH}
         on conflict do nothing`,
        [partnerAccount('')],
      )
    },
    async listUnpaid() {
      const rows = await sql.query<RowOf<Omit<MonthlyPayout, 'memo'>, 'units'> & { memo: string }>(
        `select m.partner_id as "partnerId", p.name as partner, to_char(m.month, 'YYYY-MM') as month, m.asset_id as "assetId",
           m.units, m.address, m.memo
         from monthly_payouts m join partners p on p.id = m.partner_id
           join monthly_payout_settings s on s.partner_id = m.partner_id and s.asset_id = m.asset_id
         where m.payout_id is null and m.month = ${MONTH} order by p.name, m.asset_id`,
      )
      return rows.map((row) => ({ ...row, units: BigInt(row.units), memo: memoOrNull(row.memo) }))
    },
    lock: (intent) => lock(sql, intent),
    async setPaid({ partnerId, month, assetId }, payoutId) {
      await sql.query(
        `update monthly_payouts set payout_id = $4
         where partner_id = $1 and month = to_date($2, 'YYYY-MM') and asset_id = $3 and payout_id is null`,
        [partnerId, month, assetId, payoutId],
      )
    },
    set: (name, assetId, terms) =>
      terms === null
        ? hasRow(
            sql,
            `delete from monthly_payout_settings s using partners p where p.id = s.partner_id and p.name = $1 and s.asset_id = $2
             returning 1`,
            [name, assetId],
          )
        : setTerms(sql, name, assetId, terms),
  }
}

async function lock(sql: Sql, { partnerId, month, assetId, address, memo }: MonthlyPayout): Promise<IntentState> {
  const [row] = await sql.query<{ paid: boolean; suspended: boolean }>(
    `select m.payout_id is not null as paid, p.suspended
     from monthly_payouts m join partners p on p.id = m.partner_id
       join monthly_payout_settings s on s.partner_id = m.partner_id and s.asset_id = m.asset_id
       join default_recipients r on r.partner_id = m.partner_id and r.asset_id = m.asset_id
     where m.partner_id = $1 and m.month = to_date($2, 'YYYY-MM') and m.asset_id = $3
       and m.address = $4 and m.memo = $5 and r.address = $4 and r.memo = $5
     for update of m for share of p, s, r`,
    [partnerId, month, assetId, address, memo ?? ''],
  )
  if (row === undefined) return 'changed'
  if (row.paid) return 'paid'
  return row.suspended ? 'suspended' : 'due'
}

async function setTerms(sql: Sql, name: string, assetId: string, terms: MonthlyTerms): Promise<boolean> {
  const { minimumUnits, convertsOthers } = terms
  // In a statement of its own: the index allows one currency that converts.
  if (convertsOthers)
    await sql.query(
      `update monthly_payout_settings s set converts_others = false, converted_month = null from partners p
       where p.id = s.partner_id and p.name = $1 and s.asset_id <> $2 and s.converts_others`,
      [name, assetId],
    )
  return hasRow(
    sql,
    `insert into monthly_payout_settings (partner_id, asset_id, minimum, converts_others)
     select r.partner_id, r.asset_id, $3::units, $4 from default_recipients r join partners p on p.id = r.partner_id
     where p.name = $1 and r.asset_id = $2
     on conflict (partner_id, asset_id) do update set minimum = excluded.minimum, converts_others = excluded.converts_others
     returning 1`,
    [name, assetId, minimumUnits, convertsOthers],
  )
}
