import type { OutflowLimit, OutflowStore, ReachedLimit } from '../../../exchange/ports/store/outflow.ts'
import { smallest } from '../../../lib/bigint.ts'
import { hasRow, type RowOf, type Sql } from '../core/database.ts'

type OutflowRow = RowOf<Readonly<{ scope: string; hour: bigint; day: bigint }>, 'hour' | 'day'>

const SUMS = `coalesce(sum(usd) filter (where at > statement_timestamp() - interval '1 hour'), 0) as hour,
  coalesce(sum(usd), 0) as day`

export function createOutflowStore(sql: Sql): OutflowStore {
  return {
    take: (payoutId, usd, limits) => take(sql, payoutId, usd, limits),
    check: (payoutId, usd, limits) => check(sql, payoutId, usd, limits),
    async release(payoutIds) {
      await sql.query('delete from outflows where payout_id = any($1::uuid[])', [payoutIds])
    },
    async isAwaited() {
      // The index `payouts_queue` has the first two conditions. Sweeps and gas supplies are no outflow.
      return hasRow(
        sql,
        "select 1 from payouts where state = 'reserved' and attention is null and postponed > 0 and purpose not in ('sweep', 'gas') limit 1",
        [],
      )
    },
    async list(limit) {
      const rows = await sql.query<OutflowRow>(
        `select scope, ${SUMS} from outflows where at > statement_timestamp() - interval '24 hours'
         group by scope order by day desc limit $1`,
        [limit],
      )
      return rows.map(toOutflow)
    },
  }
}

/**
 * Adds a payout to all scopes or to none, at the time of this signature. The advisory lock prevents two signers from both using
 * what remains of a limit (I-24).
 */
async function take(
  sql: Sql,
  payoutId: string,
  usd: bigint,
  limits: readonly OutflowLimit[],
): Promise<ReachedLimit | null> {
  const scopes = limits.map(({ scope }) => scope)
  // A statement of its own, so that the sums below see what the transactions before this one added. One lock for all scopes:
  // the payouts of a batch have different scopes, and two batches would take their locks in different orders.
  await sql.query("select pg_advisory_xact_lock(hashtextextended('outflow', 0))")
  const reached = await check(sql, payoutId, usd, limits)
  if (reached !== null) return reached
  await sql.query(
    `insert into outflows (payout_id, scope, usd) select $1, s.scope, $3 from unnest($2::text[]) as s (scope)
     on conflict (payout_id, scope) do update set usd = excluded.usd, at = clock_timestamp()`,
    [payoutId, scopes, usd],
  )
  return null
}

async function check(
  sql: Sql,
  payoutId: string,
  usd: bigint,
  limits: readonly OutflowLimit[],
): Promise<ReachedLimit | null> {
  const rows = await sql.query<OutflowRow>(
    `select s.scope, o.hour, o.day from unnest($1::text[]) as s (scope) cross join lateral (
       select ${SUMS} from outflows where scope = s.scope and at > statement_timestamp() - interval '24 hours' and payout_id <> $2) o`,
    [limits.map(({ scope }) => scope), payoutId],
  )
  const used = new Map(rows.map((row) => [row.scope, toOutflow(row)]))
  for (const { scope, hour, day } of limits) {
    const outflow = used.get(scope)
    // An approved payout that is larger than the limit waits until nothing else of its scope is in the window.
    if ((outflow?.hour ?? 0n) + smallest(usd, hour) > hour) return { scope, window: 'hour' }
    if ((outflow?.day ?? 0n) + smallest(usd, day) > day) return { scope, window: 'day' }
  }
  return null
}

const toOutflow = ({ scope, hour, day }: OutflowRow) => ({ scope, hour: BigInt(hour), day: BigInt(day) })
