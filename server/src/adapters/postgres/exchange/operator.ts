import type { AssetId } from '../../../core/domain/asset.ts'
import type { PayeeMacs } from '../../../exchange/ports/payee-macs.ts'
import type {
  AwaitingRefunds,
  HeldExecution,
  HeldPayout,
  OperatorStore,
  SpentDeposit,
} from '../../../exchange/ports/store/operator.ts'
import { hasRow, type RowOf, type Sql } from '../core/database.ts'
import { serialOrNull, uuidOrNull } from '../core/ids.ts'
import { setRefund } from './exchanges.ts'
import { createLargerOutputStore } from './larger-outputs.ts'
import { createUnclaimedStore } from './unclaimed.ts'

type HeldRow = RowOf<HeldPayout, 'units'>
const HELD = `select id, purpose, network, asset_id as "assetId", units, address, nullif(memo, '') as memo, state, attention, postponed > 0 as postponed,
  exchange_id as "exchangeId",
  transaction_id as "transactionId", lost as "isReversed" from payouts`
const toHeld = (row: HeldRow): HeldPayout => ({ ...row, units: BigInt(row.units) })

/** The account that its credit debited: outputs are spent where they lie, other deposits are swept. */
const SPENT_DEPOSIT = `
select a.account, d.asset_id as "assetId", d.credited_units - coalesce(b.units, 0) as missing
from deposits d cross join lateral (select case when exists (select 1 from coins c where c.network = d.network and c.deposit_id = d.id)
  then 'asset:wallet' else 'asset:deposits' end as account) a
left join balances b on b.account = a.account and b.asset_id = d.asset_id
where d.id = $1 and d.status = 'credited' and not d.lost and d.block_height is null
  and d.credited_units > coalesce(b.units, 0)`

export function createOperatorStore(sql: Sql, locking: boolean, macs: PayeeMacs): OperatorStore {
  return {
    listHeldExecutions: (exchangeId, deposit, limit) => heldExecutions(sql, locking, exchangeId, deposit, limit),
    async findSpentDeposit(depositId) {
      const [row] = await sql.query<RowOf<SpentDeposit, 'missing'>>(SPENT_DEPOSIT, [serialOrNull(depositId)])
      return row ? { ...row, missing: BigInt(row.missing) } : null
    },
    async listAwaitingRefunds(limit) {
      return sql.query<AwaitingRefunds>(
        `select coalesce(p.name, e.partner_id::text) as partner, count(*)::int as waiting, (array_agg(e.id order by held.updated_at desc))[1] as "exchangeId"
         from (select exchange_id, updated_at from executions where status = 'verifying' and reason = 'REFUND_ADDRESS_REQUIRED'
               order by updated_at desc limit $1) held
         join exchanges e on e.id = held.exchange_id left join partners p on p.id = e.partner_id
         group by 1 order by 1`,
        [limit],
      )
    },
    async findRefund(exchangeId) {
      const [row] = await sql.query<{ assetId: AssetId; address: string | null; memo: string | null }>(
        `select from_currency || '@' || from_network as "assetId", refund_address as address, refund_memo as memo
         from exchanges where id = $1`,
        [exchangeId],
      )
      return row ?? null
    },
    async setRefund(exchangeId, refund) {
      const [row] = await sql.query<{ network: string }>(
        'select from_network as network from exchanges where id = $1',
        [exchangeId],
      )
      await setRefund(sql, exchangeId, row?.network ?? '', refund, macs)
    },
    async listHeldPayouts(limit) {
      const rows = await sql.query<HeldRow>(
        `${HELD} where state = 'reserved' and attention is not null order by created_at, id limit $1`,
        [limit],
      )
      return rows.map(toHeld)
    },
    async findPayout(id) {
      const [row] = await sql.query<HeldRow>(`${HELD} where id = $1${locking ? ' for no key update' : ''}`, [
        uuidOrNull(id),
      ])
      return row ? toHeld(row) : null
    },
    async releaseSweptDeposits(payoutId) {
      await sql.query('update deposits set swept_by = null, swept_units = null where swept_by = $1', [payoutId])
    },
    setConflictingTxHash: (transactionId, txHash) =>
      hasRow(
        sql,
        "update transactions set conflicting_tx_hash = $2, next_check_at = clock_timestamp() where id = $1 and state in ('live', 'confirmed') returning 1",
        [uuidOrNull(transactionId), txHash],
      ),
    addFundingTransaction: (transactionId, raw) =>
      hasRow(
        sql,
        `update transactions set fundings = array_append(array_remove(fundings, $2), $2), next_check_at = clock_timestamp()
         where id = $1 and state in ('live', 'confirmed') and cardinality(fundings) < 50 returning 1`,
        [uuidOrNull(transactionId), raw],
      ),
    ...createLargerOutputStore(sql, locking),
    ...createUnclaimedStore(sql, locking),
  }
}

async function heldExecutions(
  sql: Sql,
  locking: boolean,
  exchangeId: string,
  deposit: string | null,
  limit: number,
): Promise<readonly HeldExecution[]> {
  if (locking) await sql.query('select 1 from exchanges where id = $1 for no key update', [exchangeId])
  const rows = await sql.query<RowOf<HeldExecution, 'units'>>(
    `select x.id, x.leg, x.deposit_id as "depositId", d.tx_hash as "txHash", d.asset_id as "assetId",
       coalesce(d.credited_units, d.units) as units, x.status, x.reason, x.decision, case when x.release_status is not null
         then json_build_object('status', x.release_status, 'reason', x.release_reason) end as "onRelease"
     from executions x join deposits d on d.id = x.deposit_id join exchanges e on e.id = x.exchange_id
     where e.id = $1 and x.status = 'verifying' and ($3::text is null or $3 in (x.id::text, x.deposit_id::text, d.tx_hash))
     order by x.leg, x.deposit_id limit $2`,
    [exchangeId, limit, deposit],
  )
  return rows.map((row) => ({ ...row, units: BigInt(row.units) }))
}
