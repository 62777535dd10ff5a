import type { AssetId } from '../../../core/domain/asset.ts'
import { accounts } from '../../../core/domain/ledger/entries.ts'
import type { Deposit } from '../../../exchange/ports/store/execution.ts'
import { SWEEP_DEPOSITS_MAX, type Sweepable, type WalletStore } from '../../../exchange/ports/store/wallets.ts'
import { hasRow, type Sql } from '../core/database.ts'
import { DEPOSIT_COLUMNS, type DepositRow, toDeposit } from './rows.ts'

export type FundingRow = DepositRow & { id: string; status: Deposit['status'] }
/** The columns of `FundingRow`. */
export const FUNDING_COLUMNS = `d.id, d.status, ${DEPOSIT_COLUMNS}`

export function createWalletStore(sql: Sql, locking = false): WalletStore {
  return {
    listSweepable: (network, depth, limit) => listSweepable(sql, network, depth, limit),
    postponeSweep: (sweepable, depth, delayMs) => postponeSweep(sql, sweepable, depth, delayMs),
    async usualFeeRate(network) {
      const [row] = await sql.query<{ rate: string }>('select rate from usual_fee_rates where network = $1', [network])
      return row === undefined ? null : BigInt(row.rate)
    },
    async setUsualFeeRate(network, rate) {
      await sql.query(
        `insert into usual_fee_rates (network, rate) values ($1, $2)
         on conflict (network) do update set rate = excluded.rate, stored_at = excluded.stored_at`,
        [network, rate],
      )
    },
    async listShortAssets(network) {
      const rows = await sql.query<{ id: AssetId }>(
        `select p.asset_id as id from payouts p left join balances b on b.account = $2 and b.asset_id = p.asset_id
         where p.network = $1 and p.state = 'reserved' and p.attention is null and p.branch = 'hot'
         group by p.asset_id, b.units having sum(p.units) > coalesce(b.units, 0)`,
        [network, accounts.wallet],
      )
      return new Set(rows.map(({ id }) => id))
    },
    async markSwept(depositIds, payoutId) {
      const rows = await sql.query(
        "update deposits set swept_by = $2, swept_units = credited_units where id = any($1::bigint[]) and swept_by is null and status = 'credited' returning 1",
        [depositIds, payoutId],
      )
      return rows.length === depositIds.length
    },
    async releaseSweptRests(network) {
      const rows = await sql.query(SWEPT_IN_PART, [network])
      return rows.length
    },
    findSweptDeposits: (sweep) => findSweptDeposits(sql, sweep),
    isDepositAddress: (network, address) =>
      hasRow(sql, 'select 1 from deposit_targets where address = $2 and network = $1 limit 1', [network, address]),
    isHotAddress: (network, address) =>
      hasRow(sql, "select 1 from house_addresses where network = $1 and address = $2 and branch = 'hot'", [
        network,
        address,
      ]),
    cancelUnsignedSweep: (depositId) => cancelUnsignedSweep(sql, depositId),
    sweptUnits: (payoutId) => sweptUnits(sql, payoutId),
    countGasSupplies: (network, address) => countGasSupplies(sql, network, address),
    async listFundings(network, limit) {
      const rows = await sql.query<FundingRow>(
        `select ${FUNDING_COLUMNS} from deposits d join cursors k on k.network = d.network
         where d.network = $1 and d.status = 'seen' and d.exchange_id is null and d.block_height + d.required_confirmations - 1 <= k.height
         order by d.id limit $2`,
        [network, limit],
        'fundings',
      )
      return rows.map(toFunding)
    },
    async findFunding(depositId) {
      const [row] = await sql.query<FundingRow>(
        `select ${FUNDING_COLUMNS} from deposits d
         where d.id = $1 and d.status = 'seen' and d.exchange_id is null and d.block_height is not null${locking ? ' for no key update' : ''}`,
        [depositId],
      )
      return row ? toFunding(row) : null
    },
    registerHotAddress: (network, address, index) => registerHotAddress(sql, network, address, index),
    async registerAssets(assetIds) {
      await sql.query('insert into inventory (asset_id) select unnest($1::text[]) on conflict do nothing', [assetIds])
    },
  }
}

/** Units of a deposit that no sweep has taken. */
const UNSWEPT_UNITS = 'credited_units - coalesce(swept_before, 0)'

/** Only of final sweeps: a sweep that is reversed makes all that it took sweepable again. */
const SWEPT_IN_PART = `update deposits d set swept_by = null, swept_before = d.swept_units, swept_units = null
  from payouts p join transactions t on t.id = p.transaction_id
  where d.network = $1 and d.status = 'credited' and d.credited_units > d.swept_units
    and p.id = d.swept_by and p.state = 'confirmed' and t.state = 'final' returning d.id`

type SweepableRow = {
  address: string
  asset_id: AssetId
  key_index: string
  version: string
  waited_ms: string
  ids: string[] | null
  units: string[] | null
}

async function listSweepable(
  sql: Sql,
  network: string,
  depth: number,
  limit: number,
): ReturnType<WalletStore['listSweepable']> {
  const rows = await sql.query<SweepableRow>(
    `with final as (select height - $2 + 1 as height from cursors where network = $1),
     due as (
       (select * from sweep_candidates where network = $1 and postponed_until is null and height <= (select height from final)
          order by height limit $3)
       union all
       (select * from sweep_candidates where network = $1 and postponed_until <= statement_timestamp()
          order by postponed_until limit $3))
     select c.address, c.asset_id, c.key_index, c.version, d.* from due c cross join lateral (
       select round(extract(epoch from clock_timestamp() - min(first_seen_at)) * 1000) as waited_ms,
         array_agg(id::text order by units desc, id) as ids, array_agg(units::text order by units desc, id) as units
       from (select id, ${UNSWEPT_UNITS} as units, first_seen_at from deposits
         where network = $1 and address = c.address and asset_id = c.asset_id and status = 'credited' and swept_by is null
           and exchange_id is not null and block_height <= (select height from final) and ${UNSWEPT_UNITS} > 0
         order by credited_units desc, id limit $4) largest) d`,
    [network, depth, limit, SWEEP_DEPOSITS_MAX],
  )
  return rows.map((row) => ({
    network,
    address: row.address,
    keyIndex: Number(row.key_index),
    assetId: row.asset_id,
    deposits: (row.ids ?? []).map((id, at) => ({ id, units: BigInt(row.units?.[at] ?? 0) })),
    waitedMs: Number(row.waited_ms),
    version: BigInt(row.version),
  }))
}

/**
 * A sweep of the native coin leaves the fee that was planned for it, which is at least its own fee and may be some times that.
 * Deposits that do not cover the fee are never swept.
 */
async function findSweptDeposits(
  sql: Sql,
  { network, address, assetId, units, feeUnits }: Parameters<WalletStore['findSweptDeposits']>[0],
): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `with candidates as (
       select id, sum(${UNSWEPT_UNITS}) over (order by block_height, id) as total from deposits
       where network = $1 and address = $2 and asset_id = $3 and status = 'credited' and swept_by is null
         and exchange_id is not null and block_height is not null and ${UNSWEPT_UNITS} > $5::numeric)
     select id from candidates where total <= (
       select min(total) from candidates where total >= $4::numeric + $5 having min(total) <= $4 + 4 * $5)`,
    [network, address, assetId, units, feeUnits],
  )
  return rows.map(({ id }) => id)
}

/** How soon a candidate that is not worth a sweep is read again: as long as it has waited, within these bounds. */
const DOUBLING = "least(greatest(clock_timestamp() - credited_at, interval '1 hour'), interval '24 hours')"

async function postponeSweep(
  sql: Sql,
  { network, address, assetId, version, deposits }: Sweepable,
  depth: number,
  delayMs: number | null,
): Promise<void> {
  const values = [network, address, assetId, version]
  const isSame = 'network = $1 and address = $2 and asset_id = $3 and version = $4'
  const finalHeight = '(select height - $5 + 1 from cursors where network = $1)'
  if (deposits.length === 0)
    await sql.query(`delete from sweep_candidates where ${isSame} and last_height <= ${finalHeight}`, [
      ...values,
      depth,
    ])
  // Deposits that are not final yet wait for their blocks, and are judged together.
  await sql.query(
    `update sweep_candidates set height = last_height, postponed_until = case
       when $6::bigint is not null then clock_timestamp() + $6 * interval '1 millisecond'
       when last_height <= ${finalHeight} then clock_timestamp() + ${DOUBLING} end
     where ${isSame}`,
    [...values, depth, deposits.length === 0 ? null : delayMs],
  )
}

async function sweptUnits(sql: Sql, payoutId: string): Promise<bigint> {
  const [row] = await sql.query<{ units: string | null }>(
    'select sum(coalesce(swept_units, credited_units) - coalesce(swept_before, 0)) as units from deposits where swept_by = $1',
    [payoutId],
  )
  return BigInt(row?.units ?? 0)
}

async function cancelUnsignedSweep(sql: Sql, depositId: string): Promise<void> {
  await sql.query(
    `with cancelled as (
       update payouts p set state = 'void' from deposits d
       where d.id = $1 and p.id = d.swept_by and p.purpose = 'sweep' and p.state = 'reserved' returning p.id),
     ended as (delete from alarms a using cancelled c where a.subject = 'payout:' || c.id)
     update deposits set swept_by = null, swept_units = null where swept_by in (select id from cancelled)`,
    [depositId],
  )
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

export const toFunding = (row: FundingRow): Deposit =>
  toDeposit(row, { id: row.id, status: row.status, isBookedAsLoss: false })
