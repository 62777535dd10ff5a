import type { Scenario } from '../support/scenario.ts'

/** What a table holds: how many rows, and a hash over all of them. */
export type Contents = Readonly<Record<string, Readonly<{ rows: number; digest: string }>>>

/** Bookkeeping that every request may touch: when a key was last used, and what of a minute was spent. */
const EXCEPTED = ['api_keys', 'spent']

/** Reads all tables of a scenario, the jobs' included. Stop its workers first: blocks come by themselves. */
export async function createTableReader({ app: { database } }: Scenario): Promise<() => Promise<Contents>> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
       and not (n.nspname = 'public' and c.relname = any($1)) order by 1`,
    [EXCEPTED],
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
