import { hasRow, type Sql } from './database.ts'

/** Asks for all networks: one key has the same address on all networks of a family. */
export const isOwnAddress = (sql: Sql, address: string): Promise<boolean> =>
  hasRow(
    sql,
    'select 1 from deposit_targets where address = $1 union all select 1 from house_addresses where address = $1 limit 1',
    [address],
  )
