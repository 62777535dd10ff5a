import type { Sql } from './database.ts'

/** Asks for all networks: one key has the same address on all networks of a family. */
export async function isOwnAddress(sql: Sql, address: string): Promise<boolean> {
  const rows = await sql.query(
    'select 1 from deposit_targets where address = $1 union all select 1 from house_addresses where address = $1 limit 1',
    [address],
  )
  return rows.length > 0
}
