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
  )
}

/** The next step of an exchange runs after this time at the latest, even if the worker that was woken for it crashed. */
const CHECK_WITHIN = "interval '15 seconds'"

/**
 * Schedules the next step of these exchanges, in case all wake-ups are lost: the queue keeps the jobs of a crashed worker
 * locked for hours. Call it before the transaction writes their other rows: a step locks the exchange first, then its deposits.
 */
export async function schedule(sql: Sql, exchangeIds: readonly string[]): Promise<void> {
  if (exchangeIds.length === 0) return
  await sql.query(
    `update exchanges set next_check_at = least(next_check_at, clock_timestamp() + ${CHECK_WITHIN})
     where id in (select id from exchanges where id = any($1::uuid[]) order by id for no key update)`,
    [[...new Set(exchangeIds)]],
  )
}
