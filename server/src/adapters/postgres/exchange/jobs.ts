import type { Job } from '../../../core/ports/jobs.ts'
import type { Deadline, Deadlines } from '../../../exchange/domain/deadlines.ts'
import type { JobStore } from '../../../exchange/ports/store/jobs.ts'
import type { Sql } from '../core/database.ts'
import { claimTurn } from '../core/turns.ts'

const ERROR_MAX = 500

export function createJobStore(sql: Sql): JobStore {
  return {
    leaseDue: (limit) => due(sql, limit),
    async deleteExpired() {
      await sql.query("delete from idempotency_keys where created_at < statement_timestamp() - interval '24 hours'")
      await sql.query("delete from kept_answers where created_at < statement_timestamp() - interval '24 hours'")
      await sql.query("delete from built_approvals where built_at < statement_timestamp() - interval '24 hours'")
      await sql.query("delete from built_external_ids where built_at < statement_timestamp() - interval '30 days'")
      await sql.query("delete from outflows where at < statement_timestamp() - interval '48 hours'")
      // The clock of a fixed rate needs them, until a replacement or a block of a reorganisation cannot come any more.
      await sql.query("delete from sightings where gone_at < statement_timestamp() - interval '30 days'")
      await sql.query("delete from outflow_sums where at < statement_timestamp() - interval '49 hours'")
    },
    claimTurn: (name, everyMs) => claimTurn(sql, name, everyMs),
    async recordFailure({ kind, id }, error) {
      const [row] = await sql.query<{ failures: number }>(
        `insert into job_failures (kind, id, error) values ($1, $2, $3)
         on conflict (kind, id) do update set failures = job_failures.failures + 1, error = excluded.error, last_at = clock_timestamp()
         returning failures`,
        [kind, id, error.slice(0, ERROR_MAX)],
      )
      return row?.failures ?? 0
    },
    async clearFailures(jobs) {
      if (jobs.length === 0) return
      await sql.query('delete from job_failures where (kind, id) in (select * from unnest($1::text[], $2::text[]))', [
        jobs.map(({ kind }) => kind),
        jobs.map(({ id }) => id),
      ])
    },
    async listFailing(quietMs, limit) {
      return sql.query<Job & { quiet: boolean }>(
        `select kind, id, last_at < clock_timestamp() - $1::bigint * interval '1 millisecond' as quiet
         from job_failures order by last_at limit $2`,
        [quietMs, limit],
      )
    },
    raiseOverdue: (deadlines, limit) => raiseOverdue(sql, deadlines, limit),
  }
}

/** Rows past their deadline, by alarm subject: used to raise the alarms and to delete those of rows that are not overdue now. */
const OVERDUE = `with deadlines as (select * from unnest($1::text[], $2::bigint[], $3::text[]) as d (state, ms, owner)),
  overdue as (
    select 'unmoved:execution:' || x.id as subject, x.updated_at as since, d.owner,
      jsonb_build_object('exchangeId', x.exchange_id, 'status', x.status) as what
    from deadlines d join executions x on d.state = 'execution ' || x.status
      and x.updated_at < statement_timestamp() - d.ms * interval '1 millisecond'
    where x.status not in ('finished', 'failed', 'refunded')
    union all
    select 'unmoved:transaction:' || t.id, t.created_at, d.owner, jsonb_build_object('network', t.network, 'state', t.state)
    from deadlines d join transactions t on d.state = 'transaction ' || t.state
      and t.created_at < statement_timestamp() - d.ms * interval '1 millisecond'
    where t.state in ('live', 'confirmed')
    union all
    select 'unmoved:payout:' || p.id, p.created_at, d.owner, jsonb_build_object('network', p.network, 'purpose', p.purpose)
    from deadlines d join payouts p on d.state = 'payout ' || case when p.attention is null then 'queued' else 'held' end
      and p.created_at < statement_timestamp() - d.ms * interval '1 millisecond'
    where p.state = 'reserved' and p.execution_id is null)`

async function raiseOverdue(sql: Sql, { executions, transactions, payouts }: Deadlines, limit: number): Promise<void> {
  const named = (kind: string, states: Readonly<Record<string, Deadline>>) =>
    Object.entries(states).map(([state, deadline]) => ({ state: `${kind} ${state}`, ...deadline }))
  const all = [...named('execution', executions), ...named('transaction', transactions), ...named('payout', payouts)]
  const values = [all.map(({ state }) => state), all.map(({ ms }) => ms), all.map(({ owner }) => owner)]
  await sql.query(
    `${OVERDUE} delete from alarms a where a.subject like 'unmoved:%' and not exists (select 1 from overdue o where o.subject = a.subject)`,
    values,
  )
  await sql.query(
    `${OVERDUE} insert into alarms (subject, alarm, detail)
     select subject, 'open, and not moved', what || jsonb_build_object('since', since, 'owner', owner) from overdue
     order by since limit $4 on conflict (subject) do nothing`,
    [...values, limit],
  )
}

/**
 * Rows whose next check is due, for example after a lost wake-up or a crashed worker. Each is leased for 15 s, so that a row
 * whose step fails is retried at that pace and not at the pace of the sweep.
 */
async function due(sql: Sql, limit: number): Promise<readonly Job[]> {
  return sql.query<Job>(
    `with exchanges_due as (
       update exchange_checks set next_check_at = clock_timestamp() + interval '15 seconds' where exchange_id in (
         select exchange_id from exchange_checks where next_check_at < statement_timestamp() order by next_check_at limit $1 for update skip locked)
       returning exchange_id
     ), transactions_due as (
       update transactions set next_check_at = clock_timestamp() + interval '15 seconds' where id in (
         select id from transactions where next_check_at < statement_timestamp() order by next_check_at limit $1 for update skip locked)
       returning id
     ), swaps_due as (
       update swaps set next_check_at = clock_timestamp() + interval '15 seconds' where id in (
         select id from swaps where next_check_at < statement_timestamp() order by next_check_at limit $1 for update skip locked)
       returning id
     )
     select 'exchange' as kind, exchange_id::text as id from exchanges_due
     union all select 'transaction', id::text from transactions_due
     union all select 'swap', id::text from swaps_due
     union all select 'dispatch', network from payouts where state = 'reserved' and attention is null
       and (held_until is null or held_until < clock_timestamp()) group by network`,
    [limit],
  )
}
