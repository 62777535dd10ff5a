import type { UncomparedNetwork } from '../../../exchange/ports/store/reconciliation.ts'
import type { Sql } from '../core/database.ts'

/** Prefix of the turns that hold when each network was last compared. */
const PREFIX = 'comparison:'

const UNCOMPARED = `
select network, to_char(t.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
from unnest($1::text[]) network join turns t on t.name = $2 || network
where t.at < clock_timestamp() - $3::bigint * interval '1 ms'`

export async function recordComparison(sql: Sql, network: string): Promise<void> {
  await sql.query('insert into turns (name) values ($1) on conflict (name) do update set at = clock_timestamp()', [
    PREFIX + network,
  ])
}

export async function listUncompared(
  sql: Sql,
  networks: readonly string[],
  agoMs: number,
): Promise<readonly UncomparedNetwork[]> {
  await sql.query(
    'insert into turns (name) select $2 || network from unnest($1::text[]) network on conflict do nothing',
    [networks, PREFIX],
  )
  return sql.query<UncomparedNetwork>(UNCOMPARED, [networks, PREFIX, agoMs])
}
