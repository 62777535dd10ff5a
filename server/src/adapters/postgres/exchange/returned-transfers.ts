import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { Sql } from '../core/database.ts'

type Row = {
  identity: string
  chain_identity: string
  tx_hash: string
  address: string
  memo: string
  contract: string | null
  units: string
  is_missing: boolean
}

/**
 * The identities of the rows that transfers belong to, by the identity that they have on the chain now. Empty for
 * transactions without rows. After a reorganisation the same transaction may run differently (EVM): a transfer can stand at
 * another place in it, and bring other units. It takes the row of an earlier transfer to the same destination in the same
 * asset that is in no block, so one payment stays one deposit. A further transfer gets an identity that no row has.
 */
export async function findRowIdentities(
  sql: Sql,
  network: string,
  incoming: readonly Transfer[],
): Promise<ReadonlyMap<string, string>> {
  if (incoming.length === 0) return new Map()
  const rows = await sql.query<Row>(
    `select identity, coalesce(chain_identity, identity) as chain_identity, tx_hash, address, memo, contract, units,
       block_height is null and returned_height is null as is_missing
     from deposits where network = $1 and tx_hash = any($2::text[]) order by id`,
    [network, [...new Set(incoming.map(({ txHash }) => txHash))]],
  )
  const known = new Set(rows.map(({ tx_hash }) => tx_hash))
  const transfers = new Map(incoming.filter(({ txHash }) => known.has(txHash)).map((one) => [one.identity, one]))
  const identities = new Map<string, string>()
  for (const { chain_identity, identity, is_missing } of rows)
    if (!is_missing && transfers.delete(chain_identity)) identities.set(chain_identity, identity)
  const missing = Map.groupBy(
    rows.filter(({ is_missing }) => is_missing),
    (row) => destinationKey(row.tx_hash, row),
  )
  const placed = Map.groupBy(transfers.values(), (one) => destinationKey(one.txHash, one))
  const taken = new Set(rows.map(({ identity }) => identity))
  for (const [key, group] of placed)
    for (const [transfer, row] of pairUp(group, missing.get(key) ?? [])) {
      const identity = row?.identity ?? freeIdentity(transfer.identity, taken)
      taken.add(identity)
      identities.set(transfer.identity, identity)
    }
  return identities
}

const destinationKey = (
  txHash: string,
  { address, memo, contract }: Readonly<{ address: string; memo: string | null; contract: string | null }>,
): string => JSON.stringify([txHash, address, memo ?? '', contract])

/** What transfers and rows are paired by: first those that did not change, then those that moved, then the rest in order. */
const KEYS: readonly ((identity: string, units: string) => string)[] = [
  (identity, units) => `${identity} ${units}`,
  (_identity, units) => units,
  () => '',
]

/** Each transfer with its row; null = there are fewer rows. */
function pairUp(transfers: readonly Transfer[], rows: readonly Row[]): ReadonlyMap<Transfer, Row | null> {
  const pairs = new Map<Transfer, Row | null>(transfers.map((one) => [one, null]))
  const free = new Set(rows)
  for (const keyOf of KEYS) {
    const waiting = Map.groupBy([...free].toReversed(), (row) => keyOf(row.chain_identity, row.units))
    for (const [transfer, found] of pairs) {
      if (found !== null) continue
      const row = waiting.get(keyOf(transfer.identity, transfer.units.toString()))?.pop()
      if (row === undefined) continue
      pairs.set(transfer, row)
      free.delete(row)
    }
  }
  return pairs
}

/** A row of another transfer may have had this place in the transaction before. */
function freeIdentity(identity: string, taken: ReadonlySet<string>): string {
  if (!taken.has(identity)) return identity
  let n = 2
  while (taken.has(`${identity}#${n}`)) n++
  return `${identity}#${n}`
}
