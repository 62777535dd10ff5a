import { hasRow, type Sql } from './database.ts'

/** True for one process of all, once in this time. */
export function claimTurn(sql: Sql, name: string, everyMs: number): Promise<boolean> {
  return hasRow(
    sql,
    `insert into turns as t (name) values ($1) on conflict (name) do update set at = clock_timestamp()
     where t.at <= statement_timestamp() - $2::bigint * interval '1 millisecond' returning 1`,
    [name, everyMs],
  )
}
