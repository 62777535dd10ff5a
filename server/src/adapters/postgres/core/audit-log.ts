import type { AuditLog, AuditLogEntry, ListedAct, OperatorAct } from '../../../core/ports/store/audit-log.ts'
import type { Sql } from './database.ts'

export function createAuditLog(sql: Sql): AuditLog {
  return {
    record: (act) => record(sql, act),
    after: (id, limit) => after(sql, id, limit),
    list: (limit) =>
      sql.query<ListedAct>(
        'select id::text, at, actor, act, subject, reason, detail, before, after from operator_acts a order by a.id desc limit $1',
        [limit],
      ),
  }
}

const orNull = (value: Record<string, unknown> | null | undefined) => (value ? toText(value) : null)
const toText = (value: Record<string, unknown>): string =>
  JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member))

/** A trigger assigns id, time and hashes (`0001_core.sql`). */
async function record(sql: Sql, { actor, act, subject, reason, detail = {}, before, after }: OperatorAct) {
  await sql.query(
    'insert into operator_acts (actor, act, subject, reason, detail, before, after) values ($1, $2, $3, $4, $5, $6, $7)',
    [actor, act, subject, reason, toText(detail), orNull(before), orNull(after)],
  )
}

/** The fields in the order and format in which `hash_operator_act` hashes them. */
async function after(sql: Sql, id: bigint, limit: number): Promise<readonly AuditLogEntry[]> {
  return sql.query<AuditLogEntry>(
    `select id::text, encode(previous, 'hex') as previous, encode(hash, 'hex') as hash,
       array[id::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), actor, act, subject, reason,
         detail::text, coalesce(before::text, ''), coalesce(after::text, '')] as fields
     from operator_acts a where a.id > $1 order by a.id limit $2`,
    [id, limit],
  )
}
