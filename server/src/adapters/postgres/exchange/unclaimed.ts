import type { AssetId } from '../../../core/domain/asset.ts'
import type { OperatorStore } from '../../../exchange/ports/store/operator.ts'
import type { Sql } from '../core/database.ts'

type UnclaimedRow = {
  id: string
  exchange_id: string | null
  network: string
  tx_hash: string
  asset_id: AssetId
  units: string
}
const SELECT_DEPOSIT = `select d.id, d.exchange_id, d.network, d.tx_hash, d.asset_id, d.credited_units as units from deposits d`
/** Its memo matches no exchange, or its execution was closed as failed and the money stayed here. */
const UNCLAIMED = `d.status = 'credited' and (d.unclaimed or exists (
  select 1 from executions x join journal j on j.id = 'execution:' || x.id || ':unclaimed' where x.deposit_id = d.id and x.status = 'failed'))`
/** A payout of it exists that is not void. */
const HAS_PAYOUT = `exists (select 1 from payouts p where p.deposit_id = d.id and p.owed_from = 'liability:unclaimed' and p.state <> 'void')`

type UnclaimedStore = Pick<
  OperatorStore,
  'findUnclaimed' | 'findUnclaimedDeposit' | 'listUnclaimed' | 'markUnclaimed' | 'markClaimed'
>

/** Credited deposits without a known owner. */
export function createUnclaimedStore(sql: Sql, locking: boolean): UnclaimedStore {
  return {
    async findUnclaimed(depositId) {
      const [row] = await sql.query<{ id: string; asset_id: AssetId; credited_units: string }>(
        `select id, asset_id, credited_units from deposits
         where id::text = $1 and unclaimed and status = 'credited'${locking ? ' for no key update' : ''}`,
        [depositId],
      )
      return row ? { id: row.id, assetId: row.asset_id, units: BigInt(row.credited_units) } : null
    },
    async findUnclaimedDeposit(depositId) {
      const [row] = await sql.query<UnclaimedRow>(
        `${SELECT_DEPOSIT} where d.id::text = $1 and (${UNCLAIMED} or ${HAS_PAYOUT})${locking ? ' for no key update of d' : ''}`,
        [depositId],
      )
      return row ? { id: row.id, assetId: row.asset_id, network: row.network, units: BigInt(row.units) } : null
    },
    async listUnclaimed(limit) {
      const rows = await sql.query<UnclaimedRow>(
        `${SELECT_DEPOSIT} where ${UNCLAIMED} and not ${HAS_PAYOUT} order by d.id limit $1`,
        [limit],
      )
      return rows.map((row) => ({
        depositId: row.id,
        exchangeId: row.exchange_id,
        txHash: row.tx_hash,
        assetId: row.asset_id,
        units: BigInt(row.units),
      }))
    },
    async markUnclaimed(payoutId) {
      await sql.query(
        'update deposits set unclaimed = true where exchange_id is null and id = (select deposit_id from payouts where id = $1)',
        [payoutId],
      )
    },
    async markClaimed(depositId) {
      await sql.query('update deposits set unclaimed = false where id = $1', [depositId])
    },
  }
}
