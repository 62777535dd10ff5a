import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { Sql } from '../core/database.ts'

type Stray = { contract: string; address: string; txHash: string; transfers: number; units: bigint }

/**
 * Adds transfers of unlisted tokens to one row per contract and address, and raises one alarm per contract. A block may
 * contain tens of thousands of them, which cost their sender a few dollars (M5).
 */
export async function recordStrays(
  sql: Sql,
  network: string,
  height: number,
  own: readonly Readonly<{ transfer: Transfer }>[],
): Promise<void> {
  const strays = new Map<string, Stray>()
  for (const { transfer } of own) {
    const { contract, address, txHash, units } = transfer
    if (contract === null) continue
    const key = `${contract} ${address}`
    const before = strays.get(key)
    if (before === undefined) strays.set(key, { contract, address, txHash, transfers: 1, units })
    else strays.set(key, { ...before, transfers: before.transfers + 1, units: before.units + units })
  }
  if (strays.size === 0) return
  const rows = [...strays.values()].map((one) => ({ ...one, units: one.units.toString() }))
  await sql.query(
    `with r as (select * from jsonb_to_recordset($3::jsonb) as r (contract text, address text, "txHash" text, transfers bigint, units numeric)),
     summed as (
       insert into strays as s (network, contract, address, transfers, units, last_tx_hash, last_height)
       select $1, r.contract, r.address, r.transfers, r.units, r."txHash", $2 from r
       on conflict (network, contract, address) do update set transfers = s.transfers + excluded.transfers,
         units = s.units + excluded.units, last_tx_hash = excluded.last_tx_hash, last_height = excluded.last_height)
     insert into alarms (subject, alarm, detail)
     select distinct on (r.contract) 'stray:' || $1 || ':' || r.contract, 'an unlisted token arrived at an address of ours',
       jsonb_build_object('contract', r.contract, 'address', r.address, 'txHash', r."txHash")
     from r order by r.contract
     on conflict (subject) do update set seen_at = clock_timestamp()`,
    [network, height, JSON.stringify(rows)],
  )
}
