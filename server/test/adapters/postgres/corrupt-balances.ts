import type { Database } from '../../../src/adapters/postgres/core/database.ts'

/** Changes `balances` by statements that the triggers refuse, as the owner of the table could. */
export function corruptBalances(
  database: Database,
  ...statements: readonly [text: string, values?: readonly unknown[]][]
): Promise<void> {
  return database.transaction(async (tx) => {
    await tx.query('alter table balances disable trigger user')
    for (const [text, values] of statements) await tx.query(text, values)
    await tx.query('alter table balances enable trigger user')
  })
}
