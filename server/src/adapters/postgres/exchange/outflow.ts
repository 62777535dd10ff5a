import type { OutflowStore } from '../../../exchange/ports/store/outflow.ts'
import type { Sql } from '../core/database.ts'

export function createOutflowStore(sql: Sql): OutflowStore {
  return {
    take: (payoutId, scopes, usd, limits) => take(sql, payoutId, scopes, usd, limits),
    async release(payoutIds) {
      await sql.query('delete from outflows where payout_id = any($1::uuid[])', [payoutIds])
    },
  }
}

/**
 * Adds a payout to all scopes or to none, at the time of this signature. Returns the window that it exceeds, or null. The
 * advisory lock of a scope prevents two signers from both using what remains of its limit (I-24).
 */
async function take(
  sql: Sql,
  payoutId: string,
  scopes: readonly string[],
  usd: bigint,
  limits: { hour: bigint; day: bigint },
): Promise<'hour' | 'day' | null> {
  for (const scope of [...scopes].sort()) {
    await sql.query("select pg_advisory_xact_lock(hashtextextended('outflow:' || $1, 0))", [scope])
    const [row] = await sql.query<{ hour: string; day: string }>(
      `select coalesce(sum(usd) filter (where at > statement_timestamp() - interval '1 hour'), 0) as hour, coalesce(sum(usd), 0) as day
       from outflows where scope = $1 and at > statement_timestamp() - interval '24 hours' and payout_id <> $2`,
      [scope, payoutId],
    )
    if (BigInt(row?.hour ?? 0) + usd > limits.hour) return 'hour'
    if (BigInt(row?.day ?? 0) + usd > limits.day) return 'day'
  }
  await sql.query(
    `insert into outflows (payout_id, scope, usd) select $1, s.scope, $3 from unnest($2::text[]) as s (scope)
     on conflict (payout_id, scope) do update set usd = excluded.usd, at = clock_timestamp()`,
    [payoutId, scopes, usd],
  )
  return null
}
