import type { AssetId } from '../../../core/domain/asset.ts'
import type {
  DepositAccount,
  ReconciliationStore,
  UnsweptDeposits,
} from '../../../exchange/ports/store/reconciliation.ts'
import type { Sql } from '../core/database.ts'

/** Deposits of one address that are summed: the largest, which suffice as a lower bound. */
const SUMMED_MAX = 1_000
/** Alarms that are read again in one run. */
const REPORTED_MAX = 50

/**
 * Units that deposit addresses hold at least, by `watched`. Of the native currency ($2), 0 where the address has sent a
 * transaction: its gas was paid from the deposits, too.
 */
const UNSWEPT = `select w.address, w.asset_id,
    exists (select 1 from alarms a where a.subject = 'unswept:' || $1 || ':' || w.address || ':' || w.asset_id) as is_reported, case
    when w.asset_id = $2 and exists (select 1 from nonce_lanes l where l.network = $1 and l.address = w.address and l.next > 0) then 0
    else coalesce((select sum(d.units) from (
      select greatest(credited_units - coalesce(swept_before, 0), 0) as units from deposits where network = $1 and address = w.address and asset_id = w.asset_id and status = 'credited'
        and swept_by is null and exchange_id is not null and block_height is not null and not lost
      order by credited_units desc, id limit $3) d), 0) end as units
  from watched w order by w.address, w.asset_id`

type UnsweptRow = { address: string; asset_id: AssetId; is_reported: boolean; units: string }
const toUnswept = (row: UnsweptRow): UnsweptDeposits => ({
  address: row.address,
  assetId: row.asset_id,
  units: BigInt(row.units),
  isReported: row.is_reported,
})

type Next = Readonly<{ after: DepositAccount | null; limit: number }> | null

/** `ReconciliationStore.unsweptDeposits`. */
export async function unsweptDeposits(
  sql: Sql,
  network: string,
  native: AssetId,
  suspects: readonly DepositAccount[],
  next: Next,
): ReturnType<ReconciliationStore['unsweptDeposits']> {
  const page =
    next === null
      ? []
      : await sql.query<UnsweptRow>(
          `with watched as (
             select address, asset_id from sweep_candidates
             where network = $1 and (address, asset_id) > ($4, $5) order by address, asset_id limit $6) ${UNSWEPT}`,
          [network, native, SUMMED_MAX, next.after?.address ?? '', next.after?.assetId ?? '', next.limit],
        )
  const again = await sql.query<UnsweptRow>(
    `with reported as (
       select detail ->> 'address' as address, detail ->> 'assetId' as asset_id from alarms
       where starts_with(subject, 'unswept:' || $1 || ':') order by seen_at limit $4),
     watched as (
       select address, asset_id from reported
       union select s.address, s.asset_id from unnest($5::text[], $6::text[]) as s (address, asset_id)) ${UNSWEPT}`,
    [
      network,
      native,
      SUMMED_MAX,
      REPORTED_MAX,
      suspects.map(({ address }) => address),
      suspects.map(({ assetId }) => assetId),
    ],
  )
  return { page: page.map(toUnswept), again: again.map(toUnswept) }
}
