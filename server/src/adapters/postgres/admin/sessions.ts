import { randomUUID } from 'node:crypto'
import type { Session, SessionStore } from '../../../admin/ports/sessions.ts'
import type { Database } from '../core/database.ts'
import { uuidOrNull } from '../core/ids.ts'

const USER_AGENT_MAX = 300

export function createSessionStore(database: Database): SessionStore {
  return {
    async add({ hash, operatorId, kind, ip, userAgent, lifetimeMs }) {
      await database.query(
        `insert into operator_sessions (id, hash, operator_id, kind, ip, user_agent, expires_at)
         values ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7::bigint * interval '1 millisecond')`,
        [randomUUID(), hash, operatorId, kind, ip, userAgent.slice(0, USER_AGENT_MAX), lifetimeMs],
      )
    },
    async find(hash, idleMs) {
      const [row] = await database.query<Session & { isStale: boolean }>(
        `select s.id, s.operator_id as "operatorId", o.login, o.role,
           o.totp_secret is not null or exists (select 1 from operator_passkeys k where k.operator_id = o.id)
             as "hasSecondFactor", s.kind, s.expires_at as "expiresAt",
           s.confirmed_at as "confirmedAt", clock_timestamp() as now,
           s.last_used_at < clock_timestamp() - interval '1 minute' as "isStale"
         from operator_sessions s join operators o on o.id = s.operator_id
         where s.hash = $1 and s.revoked_at is null and s.expires_at > clock_timestamp()
           and s.last_used_at > clock_timestamp() - $2::bigint * interval '1 millisecond' and o.disabled_at is null`,
        [hash, idleMs],
      )
      if (!row) return null
      const { isStale, ...session } = row
      if (isStale)
        await database.query('update operator_sessions set last_used_at = clock_timestamp() where id = $1', [row.id])
      return session
    },
    async confirm(id) {
      await database.query('update operator_sessions set confirmed_at = clock_timestamp() where id = $1', [id])
    },
    async revoke(id, operatorId) {
      const [row] = await database.query<{ login: string }>(
        `update operator_sessions s set revoked_at = clock_timestamp() from operators o
         where s.id = $1 and s.revoked_at is null and o.id = s.operator_id
           and ($2::uuid is null or s.operator_id = $2) returning o.login`,
        [uuidOrNull(id), operatorId],
      )
      return row?.login ?? null
    },
    async revokeOthers(operatorId, keptId) {
      await database.query(
        `update operator_sessions set revoked_at = clock_timestamp()
         where operator_id = $1 and id <> $2 and revoked_at is null`,
        [operatorId, keptId],
      )
    },
  }
}
