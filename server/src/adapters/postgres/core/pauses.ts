import type { Pause, PauseStore } from '../../../core/ports/store/pauses.ts'
import type { Sql } from './database.ts'

/** Signers hold it shared from reading the pauses until their commit; who waits for them takes it exclusively (I-25). */
const PAUSE_LOCK = 7_240_925

const INSERT = 'insert into pauses (scope, reason, actor) values ($1, $2, $3)'

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
      await sql.query(`${INSERT} on conflict (scope) do update set reason = excluded.reason, actor = excluded.actor`, [
        scope,
        reason,
        actor,
      ])
    },
    async ensurePaused(scope, reason, actor) {
      await sql.query(`${INSERT} on conflict (scope) do nothing`, [scope, reason, actor])
    },
    async waitForSigners() {
      await sql.query('select pg_advisory_xact_lock($1)', [PAUSE_LOCK])
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
