import type { AssetId } from '../../../core/domain/asset.ts'
import type { ExchangeStatus, StatusReason } from '../../../exchange/domain/exchange.ts'
import type { Decision } from '../../../exchange/domain/lifecycle.ts'
import type { OnRelease } from '../../../exchange/ports/store/execution.ts'
import type { HeldExecution, HeldPayout, OperatorStore } from '../../../exchange/ports/store/operator.ts'
import type { Sql } from '../core/database.ts'
import { createUnclaimedStore } from './unclaimed.ts'

type HeldRow = {
  id: string
  purpose: HeldPayout['purpose']
  network: string
  asset_id: AssetId
  units: string
  address: string
  state: HeldPayout['state']
  attention: string | null
  exchange_id: string | null
  transaction_id: string | null
  lost: boolean
}
const HELD =
  'select id, purpose, network, asset_id, units, address, state, attention, exchange_id, transaction_id, lost from payouts'

export function createOperatorStore(sql: Sql, locking: boolean): OperatorStore {
  return {
    listHeldExecutions: (exchangeId, deposit, limit) => heldExecutions(sql, locking, exchangeId, deposit, limit),
    async findRefund(exchangeId) {
      const [row] = await sql.query<{ asset_id: AssetId; refund_address: string | null; refund_memo: string | null }>(
        "select from_currency || '@' || from_network as asset_id, refund_address, refund_memo from exchanges where id = $1",
        [exchangeId],
      )
      return row ? { assetId: row.asset_id, address: row.refund_address, memo: row.refund_memo } : null
    },
    async setRefund(exchangeId, { address, memo }) {
      await sql.query('update exchanges set refund_address = $2, refund_memo = $3 where id = $1', [
        exchangeId,
        address,
        memo,
      ])
    },
    async listHeldPayouts(limit) {
      const rows = await sql.query<HeldRow>(
        `${HELD} where state = 'reserved' and attention is not null order by created_at, id limit $1`,
        [limit],
      )
      return rows.map(toHeld)
    },
    async findPayout(id) {
      const [row] = await sql.query<HeldRow>(`${HELD} where id::text = $1${locking ? ' for no key update' : ''}`, [id])
      return row ? toHeld(row) : null
    },
    async releaseSweptDeposits(payoutId) {
      await sql.query('update deposits set swept_by = null where swept_by = $1', [payoutId])
    },
    async setConflictingTxHash(transactionId, txHash) {
      const rows = await sql.query(
        "update transactions set rival = $2, next_check_at = clock_timestamp() where id::text = $1 and state = 'live' returning 1",
        [transactionId, txHash],
      )
      return rows.length > 0
    },
    async addFundingTransaction(transactionId, raw) {
      const rows = await sql.query(
        `update transactions set fundings = array_append(array_remove(fundings, $2), $2), next_check_at = clock_timestamp()
         where id::text = $1 and state = 'live' and cardinality(fundings) < 50 returning 1`,
        [transactionId, raw],
      )
      return rows.length > 0
    },
    ...createUnclaimedStore(sql, locking),
  }
}

function toHeld(row: HeldRow): HeldPayout {
  return {
    id: row.id,
    purpose: row.purpose,
    network: row.network,
    assetId: row.asset_id,
    units: BigInt(row.units),
    address: row.address,
    state: row.state,
    attention: row.attention,
    exchangeId: row.exchange_id,
    transactionId: row.transaction_id,
    lost: row.lost,
  }
}

type HeldExecutionRow = {
  id: string
  deposit_id: string
  tx_hash: string
  asset_id: AssetId | null
  units: string
  status: ExchangeStatus
  reason: StatusReason | null
  decision: Decision | null
  release_status: OnRelease['status'] | null
  release_reason: StatusReason | null
}

async function heldExecutions(
  sql: Sql,
  locking: boolean,
  exchangeId: string,
  deposit: string | null,
  limit: number,
): Promise<readonly HeldExecution[]> {
  if (locking) await sql.query('select 1 from exchanges where id = $1 for no key update', [exchangeId])
  const rows = await sql.query<HeldExecutionRow>(
    `select x.id, x.deposit_id, d.tx_hash, d.asset_id, coalesce(d.credited_units, d.units) as units, x.status, x.reason,
       x.decision, x.release_status, x.release_reason
     from executions x join deposits d on d.id = x.deposit_id join exchanges e on e.id = x.exchange_id
     where e.id = $1 and x.status = 'verifying' and ($3::text is null or $3 in (x.id::text, x.deposit_id::text, d.tx_hash))
     order by x.leg, x.deposit_id limit $2`,
    [exchangeId, limit, deposit],
  )
  return rows.map((row) => ({
    id: row.id,
    depositId: row.deposit_id,
    txHash: row.tx_hash,
    assetId: row.asset_id,
    units: BigInt(row.units),
    status: row.status,
    reason: row.reason,
    decision: row.decision,
    onRelease: row.release_status === null ? null : { status: row.release_status, reason: row.release_reason },
  }))
}
