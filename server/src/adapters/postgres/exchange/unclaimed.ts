import type { AssetId } from '../../../core/domain/asset.ts'
import type { OperatorStore, UnclaimedDeposit } from '../../../exchange/ports/store/operator.ts'
import { hasRow, type RowOf, type Sql } from '../core/database.ts'
import { serialOrNull } from '../core/ids.ts'

/** It arrived at a hot wallet for no exchange, or its execution was closed as failed and the money stayed here. */
const UNCLAIMED = `d.status = 'credited' and (d.unclaimed or exists (
  select 1 from executions x join journal j on j.id = 'execution:' || x.id || ':unclaimed' where x.deposit_id = d.id and x.status = 'failed'))`
/** Its payout that is not void: at most one. */
const ITS_PAYOUT = `payouts p where p.deposit_id = d.id and p.owed_from = 'liability:unclaimed' and p.state <> 'void'`
const HAS_PAYOUT = `exists (select 1 from ${ITS_PAYOUT})`
/**
 * The first $2 deposits after the id $1 that wait for a claim. Two parts, each by an index: coins without an exchange, and those of
 * executions that were closed as failed.
 */
export const NEXT_UNCLAIMED = `select * from (
    (select d.* from deposits d where d.unclaimed and d.status = 'credited' and d.id > $1::bigint and not ${HAS_PAYOUT}
       order by d.id limit $2)
    union all
    (select d.* from journal j join executions x on x.id = substr(j.id, 11, 36)::uuid join deposits d on d.id = x.deposit_id
       where j.id like 'execution:%:unclaimed' and x.status = 'failed' and d.status = 'credited' and not d.unclaimed
         and d.id > $1::bigint and not ${HAS_PAYOUT}
       order by d.id limit $2)) d
  order by d.id limit $2`

type UnclaimedStore = Pick<
  OperatorStore,
  'hasUnclaimed' | 'findUnclaimed' | 'findUnclaimedDeposit' | 'listUnclaimed' | 'markUnclaimed' | 'markClaimed'
>

/** Credited deposits without a known owner. */
export function createUnclaimedStore(sql: Sql, locking: boolean): UnclaimedStore {
  return {
    hasUnclaimed: (network) =>
      hasRow(sql, "select 1 from deposits where network = $1 and unclaimed and status = 'credited' limit 1", [network]),
    async findUnclaimed(depositId) {
      const [row] = await sql.query<{ id: string; assetId: AssetId; network: string; units: string }>(
        `select id, asset_id as "assetId", network, credited_units as units from deposits
         where id = $1 and unclaimed and status = 'credited'${locking ? ' for no key update' : ''}`,
        [serialOrNull(depositId)],
      )
      return row ? { ...row, units: BigInt(row.units) } : null
    },
    async findUnclaimedDeposit(depositId) {
      const [row] = await sql.query<{ id: string; assetId: AssetId; network: string; units: string }>(
        // A deposit that left the chain has no credited units. Its payout has them.
        `select d.id, d.asset_id as "assetId", d.network,
           coalesce(d.credited_units, (select p.units from ${ITS_PAYOUT} limit 1)) as units from deposits d
         where d.id = $1 and (${UNCLAIMED} or ${HAS_PAYOUT})${locking ? ' for no key update of d' : ''}`,
        [serialOrNull(depositId)],
      )
      return row ? { ...row, units: BigInt(row.units) } : null
    },
    async listUnclaimed(limit) {
      const rows = await sql.query<RowOf<UnclaimedDeposit, 'units'>>(
        `select d.id as "depositId", d.exchange_id as "exchangeId", d.tx_hash as "txHash", d.asset_id as "assetId",
           d.credited_units as units
         from (${NEXT_UNCLAIMED}) d order by d.id`,
        ['0', limit],
      )
      return rows.map((row) => ({ ...row, units: BigInt(row.units) }))
    },
    async markUnclaimed(payoutId) {
      const [row] = await sql.query<{ id: string; isCredited: boolean }>(
        `update deposits set unclaimed = true
         where exchange_id is null and id = (select deposit_id from payouts where id = $1)
         returning id, status = 'credited' as "isCredited"`,
        [payoutId],
      )
      return row ?? null
    },
    async markClaimed(depositId) {
      await sql.query('update deposits set unclaimed = false where id = $1', [depositId])
    },
  }
}
