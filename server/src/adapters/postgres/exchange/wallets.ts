import type { AssetId } from '../../../core/domain/asset.ts'
import type { Deposit } from '../../../exchange/ports/store/execution.ts'
import { SWEEP_DEPOSITS_MAX, type WalletStore } from '../../../exchange/ports/store/wallets.ts'
import type { Sql } from '../core/database.ts'
import { type DepositRow, toDeposit } from './rows.ts'

export type FundingRow = DepositRow & { id: string; status: Deposit['status'] }

export function createWalletStore(sql: Sql): WalletStore {
  return {
    async listSweepable(network, depth, limit, after) {
      const rows = await sql.query<{
        address: string
        key_index: string
        asset_id: AssetId
        first_id: string
        waited_ms: string
        ids: string[]
        units: string[]
      }>(
        `select d.address, d.key_index, d.asset_id, d.first_id,
           round(extract(epoch from clock_timestamp() - min(d.first_seen_at)) * 1000) as waited_ms, array_agg(d.id::text order by d.nth) as ids, array_agg(d.units::text order by d.nth) as units
         from (
           select d.id, d.first_seen_at, d.address, d.key_index, d.asset_id, d.credited_units as units, min(d.id) over same_asset as first_id,
             row_number() over (same_asset order by d.credited_units desc, d.id) as nth
           from deposits d join cursors k on k.network = d.network
           where d.network = $1 and d.status = 'credited' and d.swept_by is null and d.exchange_id is not null
             and d.block_height <= k.height - $2 + 1
           window same_asset as (partition by d.address, d.key_index, d.asset_id)) d
         where d.nth <= $5 and d.first_id > $4
         group by d.address, d.key_index, d.asset_id, d.first_id order by d.first_id limit $3`,
        [network, depth, limit, after, SWEEP_DEPOSITS_MAX],
      )
      return rows.map((row) => ({
        network,
        address: row.address,
        keyIndex: Number(row.key_index),
        assetId: row.asset_id,
        deposits: row.ids.map((id, at) => ({ id, units: BigInt(row.units[at] ?? 0) })),
        waitedMs: Number(row.waited_ms),
        cursor: BigInt(row.first_id),
      }))
    },
    async markSwept(depositIds, payoutId) {
      const rows = await sql.query(
        "update deposits set swept_by = $2 where id = any($1::bigint[]) and swept_by is null and status = 'credited' returning 1",
        [depositIds, payoutId],
      )
      return rows.length === depositIds.length
    },
    async sweptUnits(payoutId) {
      const [row] = await sql.query<{ units: string | null }>(
        'select sum(credited_units) as units from deposits where swept_by = $1',
        [payoutId],
      )
      return BigInt(row?.units ?? 0)
    },
    countGasSupplies: (network, address) => countGasSupplies(sql, network, address),
    async listFundings(network, limit) {
      const rows = await sql.query<FundingRow>(
        `select d.* from deposits d join cursors k on k.network = d.network
         where d.network = $1 and d.status = 'seen' and d.exchange_id is null and d.block_height + d.required_confirmations - 1 <= k.height
         order by d.id limit $2`,
        [network, limit],
      )
      return rows.map(toFunding)
    },
    registerHotAddress: (network, address, index) => registerHotAddress(sql, network, address, index),
    async registerAssets(assetIds) {
      await sql.query('insert into inventory (asset_id) select unnest($1::text[]) on conflict do nothing', [assetIds])
    },
  }
}

async function countGasSupplies(sql: Sql, network: string, address: string) {
  const [row] = await sql.query<{ pending: number; total: number }>(
    `select count(*) filter (where state in ('reserved', 'signed'))::int as pending, count(*)::int as total from payouts
     where network = $1 and address = $2 and purpose = 'gas' and state <> 'void'
       and created_at > clock_timestamp() - interval '24 hours'`,
    [network, address],
  )
  return row ?? { pending: 0, total: 0 }
}

async function registerHotAddress(sql: Sql, network: string, address: string, index: number): Promise<void> {
  // `on conflict` without a target: two processes that start together may conflict in any of the indexes.
  await sql.query(
    "insert into house_addresses (network, address, branch, key_index) values ($1, $2, 'hot', $3) on conflict do nothing",
    [network, address, index],
  )
  const [stored] = await sql.query<{ address: string }>(
    "select address from house_addresses where network = $1 and branch = 'hot'",
    [network],
  )
  if (stored?.address !== address)
    throw new Error(
      `the hot wallet of ${network} is ${stored?.address ?? 'missing'} in this database and ${address} in the keystore: start with the keystore that this database was created with`,
    )
}

export const toFunding = (row: FundingRow): Deposit => toDeposit(row, { id: row.id, status: row.status, lost: false })
