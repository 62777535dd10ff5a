import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { Sql } from '../core/database.ts'

type Stray = Readonly<{ contract: string; address: string; txHash: string; transfers: number; units: bigint }>

/** Rows of a network. A contract costs its author about a cent, and each could be at thousands of addresses. */
const ROWS_MAX = 1_000
/** The row of all further contracts. Units of different tokens have no sum. */
const OTHERS = { contract: 'other contracts', address: '' }

const keyOf = ({ contract, address }: Readonly<{ contract: string; address: string }>) => `${contract} ${address}`

/**
 * Adds transfers of unlisted tokens to one row per contract and address, and raises one alarm per network. A block may
 * contain tens of thousands of them, of thousands of contracts, which cost their sender a few dollars (M5).
 */
export async function recordStrays(
  sql: Sql,
  network: string,
  height: number,
  own: readonly Readonly<{ transfer: Transfer }>[],
): Promise<void> {
  const strays = sumByKey(
    own.flatMap(({ transfer: { contract, address, txHash, units } }) =>
      contract === null ? [] : [{ contract, address, txHash, transfers: 1, units }],
    ),
  )
  const newest = strays.at(-1)
  if (newest === undefined) return
  const rows = await limitRows(sql, network, strays)
  await sql.query(
    `insert into strays as s (network, contract, address, transfers, units, last_tx_hash, last_height)
     select $1, r.contract, r.address, r.transfers, r.units, r."txHash", $2
     from jsonb_to_recordset($3::jsonb) as r (contract text, address text, "txHash" text, transfers bigint, units numeric)
     on conflict (network, contract, address) do update set transfers = s.transfers + excluded.transfers,
       units = s.units + excluded.units, last_tx_hash = excluded.last_tx_hash, last_height = excluded.last_height`,
    [network, height, JSON.stringify(rows.map((one) => ({ ...one, units: one.units.toString() })))],
  )
  const { contract, address, txHash } = newest
  await sql.query(
    `insert into alarms (subject, alarm, detail) values ($1, 'an unlisted token arrived at an address of ours', $2)
     on conflict (subject) do update set detail = excluded.detail, seen_at = clock_timestamp()`,
    [`stray:${network}`, JSON.stringify({ contract, address, txHash })],
  )
}

function sumByKey(strays: readonly Stray[]): readonly Stray[] {
  const sums = new Map<string, Stray>()
  for (const stray of strays) {
    const before = sums.get(keyOf(stray))
    const { transfers, units } = before ?? { transfers: 0, units: 0n }
    sums.set(keyOf(stray), { ...stray, transfers: transfers + stray.transfers, units: units + stray.units })
  }
  return [...sums.values()]
}

/** New rows only up to the limit of the network; the rest is added to one row. The block's lock excludes other writers. */
async function limitRows(sql: Sql, network: string, strays: readonly Stray[]): Promise<readonly Stray[]> {
  const existing = await sql.query<{ contract: string; address: string }>(
    'select contract, address from strays where network = $1',
    [network],
  )
  const keys = new Set(existing.map(keyOf))
  let free = ROWS_MAX - keys.size
  return sumByKey(
    strays.map((stray) => (keys.has(keyOf(stray)) || free-- > 0 ? stray : { ...stray, ...OTHERS, units: 0n })),
  )
}
