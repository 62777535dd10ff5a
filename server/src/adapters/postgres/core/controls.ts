import type { Job } from '../../../core/ports/jobs.ts'
import type { ControlStore } from '../../../exchange/ports/store/store.ts'
import type { Sql } from './database.ts'

/** Shared by readers of pauses until their commit; taken alone by whoever pauses: no signature slips in between (I-25). */
const PAUSE_LOCK = 7_240_925

/** Waits for every signature that is being made, and keeps new ones waiting until the commit. */
export const LOCK_PAUSES = `select pg_advisory_xact_lock(${PAUSE_LOCK})`

export function createControlStore(sql: Sql, locking: boolean): ControlStore {
  return {
    async paused(scopes) {
      if (locking) await sql.query('select pg_advisory_xact_lock_shared($1)', [PAUSE_LOCK])
      return (
        await sql.query<{ scope: string }>('select scope from pauses where scope = any($1::text[])', [scopes])
      ).map((row) => row.scope)
    },
    async pause(scope, reason, actor) {
      await sql.query(
        `with waited as materialized (select pg_advisory_xact_lock($4))
         insert into pauses (scope, reason, actor) select $1, $2, $3 from waited
         on conflict (scope) do update set reason = excluded.reason, actor = excluded.actor`,
        [scope, reason, actor, PAUSE_LOCK],
      )
    },
    async resume(scope) {
      await sql.query('delete from pauses where scope = $1', [scope])
    },
    takeLimit: (payoutId, scopes, usd, limits) => takeLimit(sql, payoutId, scopes, usd, limits),
    async giveBackLimit(payoutIds) {
      await sql.query('delete from outflows where payout_id = any($1::uuid[])', [payoutIds])
    },
    async raise(subject, alarm, detail) {
      await sql.query(
        `insert into alarms (subject, alarm, detail) values ($1, $2, $3)
         on conflict (subject) do update set alarm = excluded.alarm, detail = excluded.detail, seen_at = clock_timestamp()`,
        [subject, alarm, JSON.stringify(detail)],
      )
    },
    async clear(...subjects) {
      await sql.query('delete from alarms where subject = any($1::text[])', [subjects])
    },
    due: (limit) => due(sql, limit),
    async forget() {
      await sql.query("delete from idempotency_keys where created_at < statement_timestamp() - interval '24 hours'")
      await sql.query("delete from kept_answers where created_at < statement_timestamp() - interval '24 hours'")
      await sql.query("delete from built_approvals where built_at < statement_timestamp() - interval '24 hours'")
      await sql.query("delete from outflows where at < statement_timestamp() - interval '48 hours'")
    },
  }
}

/**
 * The windows of a scope are summed under its advisory lock, so that two signers cannot both fit into the last room (I-24).
 * All or nothing, and counted at the time of this signature.
 */
async function takeLimit(
  sql: Sql,
  payoutId: string,
  scopes: readonly string[],
  usd: bigint,
  limits: { hour: bigint; day: bigint },
): Promise<'hour' | 'day' | null> {
  for (const scope of [...scopes].sort()) {
    await sql.query("select pg_advisory_xact_lock(hashtextextended('outflow:' || $1, 0))", [scope])
    const [row] = await sql.query<{ hour: string; day: string }>(
      `select coalesce(sum(usd) filter (where at > statement_timestamp() - interval '1 hour'), 0) as hour, coalesce(sum(usd), 0) as day
       from outflows where scope = $1 and at > statement_timestamp() - interval '24 hours' and payout_id <> $2`,
      [scope, payoutId],
    )
    if (BigInt(row?.hour ?? 0) + usd > limits.hour) return 'hour'
    if (BigInt(row?.day ?? 0) + usd > limits.day) return 'day'
  }
  await sql.query(
    `insert into outflows (payout_id, scope, usd) select $1, s.scope, $3 from unnest($2::text[]) as s (scope)
     on conflict (payout_id, scope) do update set usd = excluded.usd, at = clock_timestamp()`,
    [payoutId, scopes, usd],
  )
  return null
}

/**
 * Rows whose time has come: what a lost wake-up, a dead worker or a clock would otherwise leave lying. Each is leased for
 * 15 s, so that a row whose step fails is tried again at that pace and not at the sweeper's.
 */
async function due(sql: Sql, limit: number): Promise<readonly Job[]> {
  return sql.query<Job>(
    `with exchanges_due as (
       update exchanges set next_check_at = clock_timestamp() + interval '15 seconds' where id in (
         select id from exchanges where next_check_at < statement_timestamp() order by next_check_at limit $1 for update skip locked)
       returning id
     ), transactions_due as (
       update transactions set next_check_at = clock_timestamp() + interval '15 seconds' where id in (
         select id from transactions where next_check_at < statement_timestamp() order by next_check_at limit $1 for update skip locked)
       returning id
     ), swaps_due as (
       update swaps set next_check_at = clock_timestamp() + interval '15 seconds' where id in (
         select id from swaps where next_check_at < statement_timestamp() order by next_check_at limit $1 for update skip locked)
       returning id
     )
     select 'exchange' as kind, id::text from exchanges_due
     union all select 'transaction', id::text from transactions_due
     union all select 'swap', id::text from swaps_due
     union all select 'dispatch', network from payouts where state = 'reserved' and attention is null
       and (held_until is null or held_until < clock_timestamp()) group by network`,
    [limit],
  )
}
