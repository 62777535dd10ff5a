import type { LoginAttempt, LoginThrottle } from '../../../admin/ports/sessions.ts'
import { type Database, hasRow } from '../core/database.ts'

/** Failures of a key before the first delay, which then doubles up to a quarter of an hour. An hour without one forgets them. */
const FREE = { own: 5, network: 20, login: 30 } as const
const DELAY_SECONDS_MAX = 900

/**
 * Counts every attempt before the password is checked, so that parallel guesses count too. A stranger delays no browser in which
 * the operator logged in, and no session. From a network that the operator used, the count of the login itself is ignored.
 */
export function createLoginThrottle(database: Database): LoginThrottle {
  return {
    isKnownNetwork: (login, network) =>
      hasRow(
        database,
        `select 1 from operator_sessions s join operators o on o.id = s.operator_id where o.login = $1 and s.ip = $2 limit 1`,
        [login, network],
      ),
    begin: (attempt) =>
      database.transaction(async (tx) => {
        const counts = countsOf(attempt)
        const keys = counts.map(([key]) => key)
        // Locks the rows in the order of their keys. None is counted while one is blocked.
        const waits = await tx.query<{ wait: number }>(
          `insert into operator_login_failures as f (key, failures, blocked_until)
           select key, 0, clock_timestamp() from unnest($1::text[]) key order by key
           on conflict (key) do update set last_at = f.last_at
           returning ceil(extract(epoch from f.blocked_until - clock_timestamp()))::int as wait`,
          [keys],
        )
        const waitSeconds = Math.max(0, ...waits.map(({ wait }) => wait))
        if (waitSeconds > 0) return waitSeconds
        await tx.query(
          `update operator_login_failures f set
             failures = case when f.last_at < clock_timestamp() - interval '1 hour' then 1 else f.failures + 1 end,
             blocked_until = clock_timestamp() + case when f.last_at < clock_timestamp() - interval '1 hour' or f.failures < c.free
               then 0 else least(power(2, least(f.failures - c.free + 1, 20)), $3) end * interval '1 second',
             last_at = clock_timestamp()
           from unnest($1::text[], $2::int[]) c(key, free) where f.key = c.key`,
          [keys, counts.map(([, free]) => free), DELAY_SECONDS_MAX],
        )
        await tx.query("delete from operator_login_failures where last_at < clock_timestamp() - interval '1 day'")
        return 0
      }),
    async succeed(attempt) {
      const keys = countsOf(attempt).map(([key]) => key)
      await database.query(
        `with counted as (select key from operator_login_failures where key = any($1::text[]) order by key for update)
         update operator_login_failures f set blocked_until = clock_timestamp(),
           failures = case when f.key = $2 then 0 else greatest(f.failures - 1, 0) end
         from counted c where f.key = c.key`,
        [keys, keys[0]],
      )
    },
  }
}

/** The keys of an attempt, its own one first. A stranger chooses the login: it never names a key of another kind. */
function countsOf(attempt: LoginAttempt): readonly (readonly [key: string, free: number])[] {
  if (attempt.by === 'device') return [[`device:${attempt.device}`, FREE.own]]
  const ofNetwork = [`network:${attempt.network}`, FREE.network] as const
  if (attempt.by === 'passkey') return [[`passkey:${attempt.network}`, FREE.own], ofNetwork]
  if (attempt.by === 'session') {
    const key = `session:${attempt.operatorId}`
    return [
      [`${key}|${attempt.network}`, FREE.own],
      [key, FREE.login],
    ]
  }
  const { login, network, by } = attempt
  const own = [`pair:${login}|${network}`, FREE.own] as const
  return by === 'network' ? [own, ofNetwork] : [own, ofNetwork, [`login:${login}`, FREE.login]]
}
