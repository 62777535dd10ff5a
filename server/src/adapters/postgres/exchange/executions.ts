import type { ExchangeStatus, StatusReason } from '../../../exchange/domain/exchange.ts'
import { type PayeeMacs, senderPayee } from '../../../exchange/ports/payee-macs.ts'
import type { Deposit, Execution, OnRelease } from '../../../exchange/ports/store/execution.ts'
import { type Sql, unitsOrNull } from '../core/database.ts'
import { DEPOSIT_COLUMNS, type DepositRow, toDeposit } from './rows.ts'

type ExecutionRow = DepositRow & {
  id: string
  leg: number
  status: ExchangeStatus
  reason: StatusReason | null
  decision: Execution['decision']
  release_status: OnRelease['status'] | null
  release_reason: StatusReason | null
  received_units: string | null
  due_units: string | null
  rate_kind: Execution['rateKind']
  order_id: string | null
  waits_since: Date | null
  ordered_units: string | null
  source_ordered_units: string | null
  sent_units: string | null
  payin_hash: string
  payout_hash: string | null
  version: number
  deposit_id: string
  deposit_status: Deposit['status']
  lost: boolean
  payout_id: string | null
  purpose: 'payout' | 'refund'
  payout_state: 'reserved' | 'signed' | 'confirmed'
  attention: string | null
  payout_units: string
  attempt_hash: string | null
  payer: string | null
  payer_network: string | null
  payer_identity: string | null
  payer_mac: string | null
  source: Execution['source']
  source_missing: boolean
  source_closed: boolean
  next_leg_funded: boolean
  updated_at: Date
  order_state: 'planned' | 'filled' | 'rejected' | 'unknown' | 'cancelled' | null
  take_units: string
}

const executionsWhere = (
  condition: string,
) => `select x.id, x.leg, x.status, x.reason, x.decision, x.release_status, x.release_reason, x.received_units, x.due_units, x.rate_kind, x.order_id, x.waits_since, x.ordered_units, x.sent_units,
    x.payin_hash, x.payout_hash, x.version, d.id as deposit_id, ${DEPOSIT_COLUMNS}, d.status as deposit_status,
    d.lost, p.id as payout_id, p.purpose, p.state as payout_state, p.attention, p.units as payout_units,
    (select a.tx_hash from attempts a where a.transaction_id = p.transaction_id and not a.intent ? 'cancels' order by (a.state = 'confirmed') desc, a.id desc limit 1) as attempt_hash,
    o.state as order_state, o.take_units, paid.sender as payer, paid.network as payer_network, paid.identity as payer_identity,
    paid.sender_mac as payer_mac,
    (select s.ordered_units from executions s where s.id = x.source_execution) as source_ordered_units,
    (select s.state from attempts a join payouts s on s.transaction_id = a.transaction_id where x.leg > 0 and a.network = d.network
       and a.tx_hash = d.tx_hash and s.execution_id = x.source_execution and s.address = d.address) as source,
    x.leg > 0 and not exists (select 1 from executions s join deposits f on f.id = s.deposit_id
       where s.id = x.source_execution and f.status = 'credited' and f.block_height is not null) as source_missing,
    x.leg > 0 and exists (select 1 from executions s where s.id = x.source_execution and s.status in ('finished', 'failed', 'refunded'))
      and not exists (select 1 from payouts s where s.execution_id = x.source_execution and s.purpose = 'payout' and s.state <> 'void') as source_closed,
    exists (select 1 from executions n where n.source_execution = x.id) as next_leg_funded, x.updated_at
  from executions x join deposits d on d.id = x.deposit_id
  left join payouts p on p.execution_id = x.id and p.purpose in ('payout', 'refund') and p.state <> 'void'
  left join orders o on o.id = x.order_id
  -- The customer's deposit. The limit makes it one search by its key.
  left join lateral (select f.network, f.identity, f.sender, f.sender_mac from deposits f where f.id = case when x.leg = 0 then d.id else
    (select s.deposit_id from executions s where s.id = x.source_execution and s.leg = 0) end limit 1) paid on true
  where ${condition} order by x.leg, x.deposit_id`
/** Most exchanges have one deposit. For an array, the server would plan the statement again each time. */
const EXECUTION_OF_ONE = executionsWhere('x.deposit_id = $1')
const EXECUTIONS_OF_MANY = executionsWhere('x.deposit_id = any($1::bigint[])')

/** The executions of these deposits, in the order of the deposits. */
export async function readExecutions(
  sql: Sql,
  depositIds: readonly string[],
  macs: PayeeMacs,
): Promise<readonly Execution[]> {
  if (depositIds.length === 0) return []
  const rows = await (depositIds.length === 1
    ? sql.query<ExecutionRow>(EXECUTION_OF_ONE, [depositIds[0]], 'execution-of-step')
    : sql.query<ExecutionRow>(EXECUTIONS_OF_MANY, [depositIds], 'executions-of-step'))
  return rows.map((row) => toExecution(row, macs))
}

function toExecution(row: ExecutionRow, macs: PayeeMacs): Execution {
  const { payer, payer_network, payer_identity, payer_mac } = row
  return {
    id: row.id,
    leg: row.leg,
    payer,
    isPayerAuthentic:
      payer !== null && macs.isValid(senderPayee(payer_network ?? '', payer_identity ?? '', payer), payer_mac),
    source: row.source,
    isSourceMissing: row.source_missing,
    isSourceClosed: row.source_closed,
    nextLegFunded: row.next_leg_funded,
    changedAt: row.updated_at,
    status: row.status,
    reason: row.reason,
    decision: row.decision,
    onRelease: row.release_status === null ? null : { status: row.release_status, reason: row.release_reason },
    receivedUnits: unitsOrNull(row.received_units),
    dueUnits: unitsOrNull(row.due_units),
    rateKind: row.rate_kind,
    orderId: row.order_id,
    waitsSince: row.waits_since,
    orderedUnits: unitsOrNull(row.ordered_units),
    sourceOrderedUnits: unitsOrNull(row.source_ordered_units),
    sentUnits: unitsOrNull(row.sent_units),
    payinHash: row.payin_hash,
    payoutHash: row.payout_hash,
    version: row.version,
    deposit: toDeposit(row, { id: row.deposit_id, status: row.deposit_status, isBookedAsLoss: row.lost }),
    payout:
      row.payout_id === null
        ? null
        : {
            id: row.payout_id,
            purpose: row.purpose,
            state: row.payout_state,
            attention: row.attention,
            units: BigInt(row.payout_units),
            txHash: row.attempt_hash,
          },
    order:
      row.order_id === null || row.order_state === null
        ? null
        : { id: row.order_id, state: row.order_state, takeUnits: BigInt(row.take_units) },
  }
}
