import type { LoginKeys, LoginThrottle } from '../../../admin/ports/sessions.ts'
import type { Database, Sql } from '../core/database.ts'

/** Failures of a key before the first delay, which then doubles up to a quarter of an hour. An hour without one forgets them. */
const FREE = { pair: 5, network: 20, login: 30 } as const
const DELAY_SECONDS_MAX = 900

/**
 * Counts every attempt before the password is checked, so that parallel guesses count too. A stranger delays an operator only
 * from networks from which that operator never logged in: from a known network, the count of the login itself is ignored.
 */
export function createLoginThrottle(database: Database): LoginThrottle {
  return {
    begin: (keys) =>
      database.transaction(async (tx) => {
        const [known] = await tx.query(
          `select 1 from operator_sessions s join operators o on o.id = s.operator_id where o.login = $1 and s.ip = $2 limit 1`,
          [keys.login, keys.network],
        )
        for (const [key, free] of keysOf(keys, known !== undefined)) {
          const counted = await tx.query(
            `insert into operator_login_failures as f (key, failures, blocked_until) values ($1, 1, clock_timestamp())
             on conflict (key) do update set
               failures = case when f.last_at < clock_timestamp() - interval '1 hour' then 1 else f.failures + 1 end,
               blocked_until = clock_timestamp() + case when f.last_at < clock_timestamp() - interval '1 hour' or f.failures < $2
                 then 0 else least(power(2, least(f.failures - $2 + 1, 20)), $3) end * interval '1 second',
               last_at = clock_timestamp()
             where f.blocked_until <= clock_timestamp() returning 1`,
            [key, free, DELAY_SECONDS_MAX],
          )
          if (counted.length === 0) return readWait(tx, key)
        }
        await tx.query("delete from operator_login_failures where last_at < clock_timestamp() - interval '1 day'")
        return 0
      }),
    async succeed(keys) {
      await database.query('delete from operator_login_failures where key = $1', [pairOf(keys)])
      await database.query(
        `update operator_login_failures set failures = greatest(failures - 1, 0), blocked_until = clock_timestamp()
         where key = any($1::text[])`,
        [[`login:${keys.login}`, `network:${keys.network}`]],
      )
    },
  }
}

const pairOf = ({ login, network }: LoginKeys): string => `pair:${login}|${network}`

/** In the order in which their rows are locked. One that is blocked ends the count, so that it does not count for the others. */
const keysOf = (keys: LoginKeys, isKnown: boolean): readonly (readonly [key: string, free: number])[] => [
  [pairOf(keys), FREE.pair],
  [`network:${keys.network}`, FREE.network],
  ...(isKnown ? [] : [[`login:${keys.login}`, FREE.login] as const]),
]

async function readWait(sql: Sql, key: string): Promise<number> {
  const [row] = await sql.query<{ wait: number }>(
    'select ceil(extract(epoch from blocked_until - clock_timestamp()))::int as wait from operator_login_failures where key = $1',
    [key],
  )
  return Math.max(1, row?.wait ?? 1)
}
