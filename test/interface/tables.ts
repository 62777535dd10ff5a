import type { Database } from '../../server/src/adapters/postgres/core/database.ts'

/** Row count and newest version of a row by table: every insert and update has a higher transaction id, and a delete fewer rows. */
export type TableContents = Readonly<Record<string, Readonly<{ rows: number; newest: string }>>>

/** Tables that every request may write: the last use of a key, and the rate limit counters. */
const EXCLUDED = ['api_keys', 'spent']

/** Returns a function that reads all tables of a database, including the jobs. Stop the workers first: they write rows for blocks. */
export async function createTableReader(database: Database): Promise<() => Promise<TableContents>> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
       and not (n.nspname = 'public' and c.relname = any($1)) order by 1`,
    [EXCLUDED],
  )
  const contents = tables
    .map(({ name }) => `select '${name}' as name, count(*) as rows, max(xmin::text::bigint) as newest from ${name}`)
    .join(' union all ')
  return async () => {
    const rows = await database.query<{ name: string; rows: string; newest: string }>(contents, [], 'table-contents')
    return Object.fromEntries(rows.map(({ name, rows, newest }) => [name, { rows: Number(rows), newest }]))
  }
}
