import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'

type PostingRow = { debit: string; credit: string; asset_id: string; units: string }
type BalanceRow = { account: string; asset_id: string; units: string }

/**
 * Faults of the ledger, one sentence each, added up here from the rows, independently of the program's own check: each asset's
 * balances sum to zero, and each balance is the sum of its postings. Both tables are read in one snapshot.
 */
export async function findLedgerFaults(database: Sql): Promise<readonly string[]> {
  const [row] = await database.query<{ postings: PostingRow[] | null; balances: BalanceRow[] | null }>(
    `select (select json_agg(json_build_object('debit', debit, 'credit', credit, 'asset_id', asset_id, 'units', units::text)) from postings) as postings,
       (select json_agg(json_build_object('account', account, 'asset_id', asset_id, 'units', units::text)) from balances) as balances`,
  )
  const posted = new Map<string, bigint>()
  const add = (key: string, units: bigint) => posted.set(key, (posted.get(key) ?? 0n) + units)
  for (const { debit, credit, asset_id, units } of row?.postings ?? []) {
    add(`${debit} ${asset_id}`, BigInt(units))
    add(`${credit} ${asset_id}`, -BigInt(units))
  }
  const stored = new Map<string, bigint>()
  const sums = new Map<string, bigint>()
  for (const { account, asset_id, units } of row?.balances ?? []) {
    stored.set(`${account} ${asset_id}`, BigInt(units))
    sums.set(asset_id, (sums.get(asset_id) ?? 0n) + BigInt(units))
  }
  const wrong = [...new Set([...posted.keys(), ...stored.keys()])].filter(
    (key) => (posted.get(key) ?? 0n) !== (stored.get(key) ?? 0n),
  )
  return [
    ...[...sums].filter(([, sum]) => sum !== 0n).map(([asset, sum]) => `the balances of ${asset} sum to ${sum}`),
    ...wrong.map(
      (key) => `the balance of ${key} is ${stored.get(key) ?? 0n}, its postings sum to ${posted.get(key) ?? 0n}`,
    ),
  ]
}
