import type { AlarmStore } from '../../../core/ports/store/alarms.ts'
import type { Sql } from './database.ts'

export function createAlarmStore(sql: Sql): AlarmStore {
  return {
    list: (limit) =>
      sql.query('select subject, alarm, detail, raised_at as "raisedAt" from alarms order by raised_at desc limit $1', [
        limit,
      ]),
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
    async clearOthers(prefix, kept) {
      await sql.query('delete from alarms where starts_with(subject, $1) and subject <> all($2::text[])', [
        prefix,
        kept.map((rest) => `${prefix}${rest}`),
      ])
    },
  }
}
