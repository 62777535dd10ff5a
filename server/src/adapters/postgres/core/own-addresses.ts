import type { Sql } from './database.ts'

/** One key has one address on all networks of a family: an address of ours on one network is ours on all of them. */
export async function isOwnAddress(sql: Sql, address: string): Promise<boolean> {
  const found = await sql.query(
    'select 1 from deposit_targets where address = $1 union all select 1 from house_addresses where address = $1 limit 1',
    [address],
  )
  return found.length > 0
}
