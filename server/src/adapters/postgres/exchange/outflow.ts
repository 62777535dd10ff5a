import type { OutflowLimit, OutflowStore, ReachedLimit } from '../../../exchange/ports/store/outflow.ts'
import { smallest } from '../../../lib/bigint.ts'
import type { RowOf, Sql } from '../core/database.ts'

type OutflowRow = RowOf<Readonly<{ scope: string; hour: bigint; day: bigint }>, 'hour' | 'day'>

/**
 * What left in the scope `s.scope` since `age` ago, without the payout $1: the sums of the intervals that began since, the rows
 * of the interval in which the window begins, and less what the payout itself has in those sums. Exact, and few rows. Scopes of
 * recipients have no sums: all their rows.
 */
function usdSince(age: string): string {
  const start = `statement_timestamp() - interval '${age}'`
  const edge = `begin_of_outflow_sum(${start})`
  return `case when not is_outflow_summed(s.scope)
    then (select coalesce(sum(usd), 0) from outflows where scope = s.scope and at > ${start} and payout_id is distinct from $1)
    else (select coalesce(sum(usd), 0) from outflow_sums where scope = s.scope and at > ${edge})
    + (select coalesce(sum(usd), 0) from outflows where scope = s.scope and at > ${start}
         and at < ${edge} + interval '5 minutes' and payout_id is distinct from $1)
    - (select coalesce(sum(usd), 0) from outflows where scope = s.scope and payout_id = $1
         and at >= ${edge} + interval '5 minutes') end`
}
const SUMS = `${usdSince('1 hour')} as hour, ${usdSince('24 hours')} as day`

/** Serialises the writers: two signers must not both use what remains of a limit (I-24). */
const lock = (sql: Sql) => sql.query("select pg_advisory_xact_lock(hashtextextended('outflow', 0))")

export function createOutflowStore(sql: Sql): OutflowStore {
  return {
    take: (payoutId, usd, limits) => take(sql, payoutId, usd, limits),
    check: (payoutId, usd, limits) => check(sql, payoutId, usd, limits),
    async release(payoutIds) {
      if (payoutIds.length === 0) return
      await lock(sql)
      await sql.query('delete from outflows where payout_id = any($1::uuid[])', [payoutIds])
    },
    async list(limit) {
      const rows = await sql.query<OutflowRow>(
        `select * from (select s.scope, ${SUMS} from (select distinct scope from outflow_sums) s) o
         where day > 0 order by day desc limit $2`,
        [null, limit],
      )
      return rows.map(toOutflow)
    },
  }
}

/** Adds a payout to all scopes or to none, at the time of this signature. */
async function take(
  sql: Sql,
  payoutId: string,
  usd: bigint,
  limits: readonly OutflowLimit[],
): Promise<ReachedLimit | null> {
  const scopes = limits.map(({ scope }) => scope)
  // A statement of its own, so that the sums below see what the transactions before this one added. One lock for all scopes:
  // the payouts of a batch have different scopes, and two batches would take their locks in different orders.
  await lock(sql)
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
  const rows = await sql.query<OutflowRow>(`select s.scope, ${SUMS} from unnest($2::text[]) as s (scope)`, [
    payoutId,
    limits.map(({ scope }) => scope),
  ])
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
