import type { Pause, PauseStore } from '../../../core/ports/store/pauses.ts'
import type { Sql } from './database.ts'

/** Signers hold it shared from reading the pauses until their commit; `pause` takes it exclusively, so none signs in between (I-25). */
const PAUSE_LOCK = 7_240_925

/** Waits for signatures in progress and blocks new ones until the commit. */
export const LOCK_PAUSES = `select pg_advisory_xact_lock(${PAUSE_LOCK})`

const INSERT_AFTER_WAIT = `with waited as materialized (select pg_advisory_xact_lock($4))
         insert into pauses (scope, reason, actor) select $1, $2, $3 from waited`

export function createPauseStore(sql: Sql, locking: boolean): PauseStore {
  return {
    async list() {
      return sql.query<{ scope: string; reason: string }>('select scope, reason from pauses order by scope limit 1000')
    },
    async active(scopes) {
      if (locking) await sql.query('select pg_advisory_xact_lock_shared($1)', [PAUSE_LOCK])
      const rows = await sql.query<{ scope: string }>('select scope from pauses where scope = any($1::text[])', [
        scopes,
      ])
      return rows.map(({ scope }) => scope)
    },
    async pause(scope, reason, actor) {
      await sql.query(
        `${INSERT_AFTER_WAIT}
         on conflict (scope) do update set reason = excluded.reason, actor = excluded.actor`,
        [scope, reason, actor, PAUSE_LOCK],
      )
    },
    async ensurePaused(scope, reason, actor) {
      await sql.query(`${INSERT_AFTER_WAIT} on conflict (scope) do nothing`, [scope, reason, actor, PAUSE_LOCK])
    },
    async announce(scope, reason, actor) {
      await sql.query(
        `insert into pauses (scope, reason, actor) values ($1, $2, $3)
         on conflict (scope) do update set reason = excluded.reason, actor = excluded.actor`,
        [scope, reason, actor],
      )
    },
    async waitForSigners() {
      await sql.query(LOCK_PAUSES)
    },
    async resume(scope, by) {
      const [pause] = await sql.query<Pause>(
        'delete from pauses where scope = $1 and ($2::text is null or actor = $2) returning scope, reason, actor, at',
        [scope, by ?? null],
      )
      return pause ?? null
    },
  }
}
