import type { ReversedPayoutStore } from '../../../exchange/ports/store/reversed-payouts.ts'
import { hasRow, type Sql } from '../core/database.ts'
import { uuidOrNull } from '../core/ids.ts'

const CLOSED = "x.status in ('finished', 'refunded')"
const PAYS = "p.execution_id = x.id and p.purpose in ('payout', 'refund')"

export function createReversedPayoutStore(sql: Sql): ReversedPayoutStore {
  return {
    async lockExchanges(transactionId, which) {
      await sql.query(
        `select 1 from exchanges e where e.id in (select x.exchange_id from payouts p join executions x on ${PAYS}
           where p.transaction_id = $1 and ($2 or x.reason = 'PAYOUT_VANISHED')) order by e.id for no key update of e`,
        [transactionId, which === 'all'],
      )
    },
    async lockExchangeOf(payoutId) {
      await sql.query(
        `select 1 from exchanges e where e.id = (select exchange_id from payouts where id = $1 and lost)
         for no key update of e`,
        [uuidOrNull(payoutId)],
      )
    },
    recordOrphaned: (transactionId) => recordOrphaned(sql, transactionId),
    isReportedOrphaned: (transactionId) =>
      hasRow(
        sql,
        `select 1 from payouts p join executions x on ${PAYS} where p.transaction_id = $1 and x.reason = 'PAYOUT_VANISHED' limit 1`,
        [transactionId],
        'is-reported-orphaned',
      ),
    restore: (transactionId, txHash) => restore(sql, transactionId, txHash),
    reopen: (transactionId) => reopen(sql, transactionId),
    async settleByHand(payoutId) {
      const rows = await sql.query<{ id: string; exchange_id: string }>(
        `update executions x set reason = 'OPERATOR' from payouts p
         where ${PAYS} and p.id = $1 and ${CLOSED} returning x.id, x.exchange_id`,
        [payoutId],
      )
      await recordEvent(sql, rows, 'payout settled by hand', {})
    },
  }
}

async function recordOrphaned(sql: Sql, transactionId: string): Promise<boolean> {
  await sql.query(
    `update payouts p set vanished_reason = x.reason from executions x
     where ${PAYS} and p.transaction_id = $1 and ${CLOSED} and x.reason is distinct from 'PAYOUT_VANISHED'`,
    [transactionId],
  )
  const rows = await sql.query<{ id: string; exchange_id: string }>(
    `update executions x set reason = 'PAYOUT_VANISHED' from payouts p
     where ${PAYS} and p.transaction_id = $1 and ${CLOSED} and x.reason is distinct from 'PAYOUT_VANISHED'
     returning x.id, x.exchange_id`,
    [transactionId],
  )
  await recordEvent(sql, rows, 'payout vanished', { transactionId })
  return rows.length > 0
}

async function restore(sql: Sql, transactionId: string, txHash: string): Promise<void> {
  const rows = await sql.query<{ id: string; exchange_id: string }>(
    `update executions x set reason = case when x.reason = 'PAYOUT_VANISHED' then p.vanished_reason else x.reason end,
       payout_hash = $2, sent_units = case when x.status = 'finished' then p.units end
     from payouts p where ${PAYS} and p.transaction_id = $1 and p.state = 'confirmed'
       and (x.reason = 'PAYOUT_VANISHED' or (${CLOSED} and x.payout_hash is distinct from $2))
     returning x.id, x.exchange_id`,
    [transactionId, txHash],
  )
  await sql.query(
    "update payouts set lost = false, vanished_reason = null where transaction_id = $1 and state = 'confirmed' and (lost or vanished_reason is not null)",
    [transactionId],
  )
  await recordEvent(sql, rows, 'payout is there', { txHash })
}

async function reopen(sql: Sql, transactionId: string): Promise<ReadonlyMap<string, boolean>> {
  const rows = await sql.query<{ id: string; lost: boolean }>(
    `update payouts p set state = 'reserved', transaction_id = null, attention = 'LOST', held_until = null, approved = false,
       lost = exists (select 1 from executions x where ${PAYS} and ${CLOSED})
     where p.transaction_id = $1 and p.state = 'confirmed' returning p.id, p.lost`,
    [transactionId],
  )
  const reopened = await sql.query<{ id: string; exchange_id: string }>(
    `update executions x set payout_hash = null, sent_units = null from payouts p
     where ${PAYS} and p.id = any($1::uuid[]) and p.lost returning x.id, x.exchange_id`,
    [rows.map(({ id }) => id)],
  )
  await recordEvent(sql, reopened, 'payout lost', { transactionId })
  return new Map(rows.map(({ id, lost }) => [id, lost]))
}

/** Records the event, and sets each exchange's reason to that of its last execution with the same status. */
async function recordEvent(
  sql: Sql,
  executions: readonly { id: string; exchange_id: string }[],
  event: string,
  detail: Record<string, unknown>,
): Promise<void> {
  if (executions.length === 0) return
  await sql.query(
    `insert into events (exchange_id, execution_id, event, status, reason, detail)
     select x.exchange_id, x.id, $2, x.status, x.reason, $3 from executions x where x.id = any($1::uuid[]) order by x.id`,
    [executions.map(({ id }) => id), event, JSON.stringify(detail)],
  )
  await sql.query(
    `update exchanges e set reason = (select x.reason from executions x where x.exchange_id = e.id and x.status = e.status
       order by x.leg desc, x.deposit_id desc limit 1)
     where e.id = any($1::uuid[]) and e.status in ('finished', 'refunded')`,
    [executions.map(({ exchange_id }) => exchange_id)],
  )
}
