import type { Job } from '../../../core/ports/jobs.ts'
import type { Sql } from './database.ts'

/**
 * One job a row: waking it again replaces the job that waits (graphile-worker's job_key). The job carries the id alone,
 * and never a queue name: a dead worker would hold a queue's lock for hours, a row lock dies with its connection.
 */
export async function wake(sql: Sql, jobs: readonly Job[]): Promise<void> {
  // In one order, so that two that wake the same jobs wait for each other and don't deadlock.
  const keys = [...new Set(jobs.map(({ kind, id }) => `${kind}:${id}`))].sort()
  if (keys.length === 0) return
  await sql.query(
    `select 1 from unnest($1::text[]) as k (key), lateral graphile_worker.add_job(
       split_part(k.key, ':', 1), json_build_object('id', split_part(k.key, ':', 2)), job_key := k.key, job_key_mode := 'replace', max_attempts := 25)`,
    [keys],
  )
}

/** An exchange is looked at after this long at the latest, even if the worker that was woken for it died. */
const LOOK_WITHIN = "interval '15 seconds'"

/**
 * What was recorded of these exchanges is acted on even if every wake-up is lost: the queue keeps a dead worker's jobs for
 * hours. Before anything of theirs is written in the transaction: a step locks the exchange first, then its deposits.
 */
export async function schedule(sql: Sql, exchangeIds: readonly string[]): Promise<void> {
  if (exchangeIds.length === 0) return
  await sql.query(
    `update exchanges set next_check_at = least(next_check_at, clock_timestamp() + ${LOOK_WITHIN})
     where id in (select id from exchanges where id = any($1::uuid[]) order by id for no key update)`,
    [[...new Set(exchangeIds)]],
  )
}
