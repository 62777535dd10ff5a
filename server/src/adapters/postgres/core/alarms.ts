import type { Alarm, AlarmCount, AlarmStore, ListedAlarm } from '../../../core/ports/store/alarms.ts'
import type { Sql } from './database.ts'

const COLUMNS = `subject, severity, alarm, detail, raised_at as "raisedAt", acknowledged_by as "acknowledgedBy"`

export function createAlarmStore(sql: Sql): AlarmStore {
  return {
    list: (perKind, kind) =>
      sql.query<ListedAlarm>(
        `select ${COLUMNS}, case when place = $1 then total - place else 0 end::int as more
         from (select *, row_number() over (partition by split_part(subject, ':', 1), severity order by raised_at desc, subject) as place,
                 count(*) over (partition by split_part(subject, ':', 1), severity) as total
               from alarms where $2::text is null or split_part(subject, ':', 1) = $2) of_kind
         where place <= $1
         order by array_position(array['critical', 'warning', 'info'], severity), raised_at desc, subject`,
        [perKind, kind ?? null],
      ),
    async find(subject) {
      const [row] = await sql.query<Alarm>(`select ${COLUMNS} from alarms where subject = $1`, [subject])
      return row ?? null
    },
    count: () =>
      sql.query<AlarmCount>(
        `select split_part(subject, ':', 1) as kind, severity, count(*)::int as count from alarms
         where acknowledged_at is null group by 1, 2`,
      ),
    async acknowledge(subject, by) {
      await sql.query(
        'update alarms set acknowledged_by = $2, acknowledged_at = clock_timestamp() where subject = $1',
        [subject, by],
      )
    },
    async raise(subject, alarm, detail) {
      await sql.query(
        `insert into alarms (subject, alarm, detail) values ($1, $2, $3)
         on conflict (subject) do update set alarm = excluded.alarm, detail = excluded.detail, seen_at = clock_timestamp()`,
        [subject, alarm, JSON.stringify(detail)],
      )
    },
    async clear(...subjects) {
      await sql.query('delete from alarms where subject = any($1::text[])', [subjects], 'clear-alarms')
    },
    async clearOthers(prefix, kept) {
      await sql.query('delete from alarms where starts_with(subject, $1) and subject <> all($2::text[])', [
        prefix,
        kept.map((rest) => `${prefix}${rest}`),
      ])
    },
    async clearUnseen(prefixes, quietMs) {
      await sql.query(
        `delete from alarms where subject ^@ any($1::text[])
         and seen_at <= clock_timestamp() - $2 * interval '1 millisecond'`,
        [prefixes, quietMs],
      )
    },
  }
}
