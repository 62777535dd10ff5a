import type { Database } from '../../server/src/adapters/postgres/core/database.ts'

/** Changes rows of a table by statements that its triggers refuse, as its owner could: the fault that a checker must find. */
export function tamper(
  database: Database,
  table: string,
  ...statements: readonly [text: string, values?: readonly unknown[]][]
): Promise<void> {
  return database.transaction(async (tx) => {
    await tx.query(`alter table ${table} disable trigger user`)
    for (const [text, values] of statements) await tx.query(text, values)
    await tx.query(`alter table ${table} enable trigger user`)
  })
}
