import type { ActionRequest, RequestStore } from '../../../admin/ports/requests.ts'
import { timeOrderedId } from '../../../lib/id.ts'
import type { Sql } from '../core/database.ts'
import { uuidOrNull } from '../core/ids.ts'

export function createRequestStore(sql: Sql): RequestStore {
  return {
    async add({ action, arguments: given, reason, askedBy, foundHash }, lifetimeMs) {
      const id = timeOrderedId()
      await sql.query(
        `insert into operator_requests (id, action, arguments, reason, asked_by, expires_at, found_hash)
         values ($1, $2, $3, $4, $5, clock_timestamp() + $6::bigint * interval '1 millisecond', $7)`,
        [id, action, JSON.stringify(given), reason, askedBy, lifetimeMs, foundHash],
      )
      return id
    },
    async lock(id) {
      const [row] = await sql.query<ActionRequest>(
        `select r.id, r.action, r.arguments, r.reason, r.state, r.asked_by as "askedBy", o.login as "askedByLogin",
           r.found_hash as "foundHash",
           r.expires_at <= clock_timestamp() as "isExpired"
         from operator_requests r join operators o on o.id = r.asked_by where r.id = $1 for update of r`,
        [uuidOrNull(id)],
      )
      return row ?? null
    },
    async decide(id, state, by, result) {
      const text = result === null ? null : JSON.stringify(result, toText)
      await sql.query(
        `update operator_requests set state = $2, decided_by = $3, decided_at = clock_timestamp(), result = $4 where id = $1`,
        [id, state, by, text],
      )
    },
  }
}

const toText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)
