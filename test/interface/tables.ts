import type { Scenario } from '../support/scenario.ts'

/** Row count and hash of all rows by table. */
export type TableContents = Readonly<Record<string, Readonly<{ rows: number; digest: string }>>>

/** Tables that every request may write: the last use of a key, and the rate limit counters. */
const EXCLUDED = ['api_keys', 'spent']

/** Returns a function that reads all tables of a scenario, including the jobs. Stop the workers first: they write rows for blocks. */
export async function createTableReader({ app: { database } }: Scenario): Promise<() => Promise<TableContents>> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
       and not (n.nspname = 'public' and c.relname = any($1)) order by 1`,
    [EXCLUDED],
  )
  const digests = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) as rows, md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as digest from ${name} t`,
  )
  return async () => {
    const rows = await database.query<{ name: string; rows: string; digest: string }>(digests.join(' union all '))
    return Object.fromEntries(rows.map((row) => [row.name, { rows: Number(row.rows), digest: row.digest }]))
  }
}
