import type { Sql } from '../core/database.ts'
import { schedule, wake } from '../core/wake.ts'

type TransactionId = Readonly<{ network: string; txHash: string }>

/** Locks the logs of these networks, so that no block is appended until the transactions are known as ours. */
export async function lockLogs(sql: Sql, transactions: readonly TransactionId[]): Promise<void> {
  await sql.query('select 1 from cursors where network = any($1::text[]) order by network for update', [
    transactions.map(({ network }) => network),
  ])
}

const OWN = `select d.id, d.exchange_id from unnest($1::text[], $2::text[]) as r (network, tx_hash)
  join deposits d on d.network = r.network and d.tx_hash = r.tx_hash where d.block_height is not null`

/**
 * Takes the transfers of our own transactions out of the deposits. A restored database lacks these transactions, and a watcher
 * may record their blocks before the journal of another worker names them. To the steps, such a deposit has left the chain:
 * they reverse its credit and void its payout. Its output is ours like change, and belongs to no deposit.
 */
export async function disownTransfers(sql: Sql, transactions: readonly TransactionId[]): Promise<void> {
  const values = [transactions.map(({ network }) => network), transactions.map(({ txHash }) => txHash)]
  const own = await sql.query<{ id: string; exchange_id: string | null }>(OWN, values)
  if (own.length === 0) return
  const exchangeIds = own.flatMap(({ exchange_id }) => exchange_id ?? [])
  await schedule(sql, exchangeIds)
  const ids = own.map(({ id }) => id)
  await sql.query(
    `update coins c set deposit_id = null from deposits d
     where d.id = any($1::bigint[]) and c.network = d.network and c.block_height = d.block_height and c.deposit_id = d.id`,
    [ids],
  )
  await sql.query(
    `update deposits set block_height = null, block_hash = null, orphaned_at = clock_timestamp()
     where id = any($1::bigint[])`,
    [ids],
  )
  await wake(
    sql,
    exchangeIds.map((id) => ({ kind: 'exchange', id })),
  )
}
