import type { Database } from '../server/src/adapters/postgres/core/database.ts'
import { hashToken } from '../server/src/admin/identity/tokens.ts'

const LOGIN = 'first@example.com'

/** An operator with a session of this token. The login itself needs a second factor, and is not measured. */
export async function seedOperator(database: Database, token: string): Promise<void> {
  await database.query(
    `with o as (insert into operators (id, login, role, created_by)
         values (gen_random_uuid(), $1, 'admin', 'a benchmark') returning id)
     insert into operator_sessions (id, hash, operator_id, kind, ip, user_agent, expires_at)
     select gen_random_uuid(), $2, id, 'bearer', '127.0.0.1', 'a benchmark', now() + interval '12 hours' from o`,
    [LOGIN, hashToken(token)],
  )
}

/** The hash of one swap: those of `seedAdminRows` are in the format of no network. */
export const SEEDED_HASH = `0x${'5a'.repeat(32)}`

/** Requests and sessions of operators, a tenth of `rows` each, and a swap with a hash. To `seedAdminRows`. */
export async function seedOperatorRows(database: Database, rows: number): Promise<void> {
  const count = Math.max(Math.round(rows / 10), 1_000)
  await database.transaction(
    async (tx) => {
      await tx.query(
        "insert into operators (id, login, role, created_by) values (gen_random_uuid(), 'second@example.com', 'admin', 'a benchmark')",
      )
      // One of five hundred waits for a second person.
      await tx.query(
        `insert into operator_requests (id, action, arguments, reason, state, asked_by, asked_at, expires_at, decided_by, decided_at, result)
         select gen_random_uuid(), 'exchanges-release', '{}', 'a benchmark', case when n % 500 = 0 then 'asked' else 'done' end, a.id,
           now() - n * interval '1 minute', now() + interval '1 day', case when n % 500 > 0 then d.id end,
           case when n % 500 > 0 then now() end, case when n % 500 > 0 then '{}'::jsonb end
         from generate_series(1, $1::int) n, operators a, operators d where a.login = $2 and d.login = 'second@example.com'`,
        [count, LOGIN],
      )
      await tx.query(
        `insert into operator_sessions (id, hash, operator_id, kind, ip, user_agent, created_at, last_used_at, expires_at)
         select gen_random_uuid(), sha256(('session ' || n)::bytea), o.id, 'cookie', '192.0.2.7', 'a benchmark', now() - n * interval '1 minute',
           now() - n * interval '1 minute', now() - n * interval '1 minute' + interval '12 hours'
         from generate_series(1, $1::int) n, operators o where o.login = 'second@example.com'`,
        [count],
      )
      await tx.query(
        `insert into swaps (id, partner_id, network, hash, status, token_in, decimals_in, units_in, token_out, decimals_out, expected_units,
           min_units, received_units, sender, recipient, fee_ppm, owes_fee, expires_by, block_height, block_hash)
         select gen_random_uuid(), id, 'base', $1, 'finished', 'a', 18, 1, 'b', 18, 1, 1, 1, 's', 'r', 0, false, 'never', 1, 'h'
         from partners where name = 'acme'`,
        [SEEDED_HASH],
      )
    },
    { statementTimeoutMs: 600_000 },
  )
  await database.query('analyze operator_requests, operator_sessions, swaps')
}
