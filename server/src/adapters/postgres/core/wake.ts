import type { Job } from '../../../core/ports/jobs.ts'
import type { Sql } from './database.ts'

/**
 * Adds one job per row; a repeat replaces the waiting job (graphile-worker's job_key). The job has the id only and no queue
 * name: a crashed worker would hold the lock of a named queue for hours, but a row lock ends with its connection.
 */
export async function wake(sql: Sql, jobs: readonly Job[]): Promise<void> {
  // Sorted, so that two transactions that wake the same jobs cannot deadlock.
  const keys = [...new Set(jobs.map(({ kind, id }) => `${kind}:${id}`))].sort()
  if (keys.length === 0) return
  await sql.query(
    `select 1 from unnest($1::text[]) as k (key), lateral graphile_worker.add_job(
       split_part(k.key, ':', 1), json_build_object('id', split_part(k.key, ':', 2)), job_key := k.key, job_key_mode := 'replace', max_attempts := 25)`,
    [keys],
    'wake',
  )
}

/** The next step of an exchange runs after this time at the latest, even if the worker that was woken for it crashed. */
const CHECK_WITHIN = "interval '15 seconds'"

/**
 * Schedules the next step of these exchanges, in case all wake-ups are lost: the queue keeps the jobs of a crashed worker
 * locked for hours. Call it before the transaction writes their other rows: a step locks the exchange first, then its deposits.
 * The lock of the exchange makes this wait for a running step, which would otherwise replace the time.
 */
export async function schedule(sql: Sql, exchangeIds: readonly string[]): Promise<void> {
  if (exchangeIds.length === 0) return
  await sql.query(
    `with locked as materialized (select id from exchanges where id = any($1::uuid[]) order by id for no key update)
     insert into exchange_checks as c (exchange_id, next_check_at) select id, clock_timestamp() + ${CHECK_WITHIN} from locked
     on conflict (exchange_id) do update set next_check_at = excluded.next_check_at where c.next_check_at > excluded.next_check_at`,
    [[...new Set(exchangeIds)]],
    'schedule',
  )
}
