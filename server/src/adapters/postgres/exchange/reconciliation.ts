import type { AssetId } from '../../../core/domain/asset.ts'
import { accounts } from '../../../core/domain/ledger/entries.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import type {
  MissingUnits,
  OpenOnNetwork,
  ReconciliationStore,
  StalledNetwork,
} from '../../../exchange/ports/store/reconciliation.ts'
import type { Database, Sql } from '../core/database.ts'
import { claimTurn } from '../core/turns.ts'
import { listUncompared, recordComparison } from './comparisons.ts'
import { toUtxo, type UtxoRow } from './rows.ts'
import { unsweptDeposits } from './unswept-deposits.ts'

/** Never credited, so never spent: the ledger does not have its units. */
const IS_REJECTED =
  "c.deposit_id is not null and (select d.status from deposits d where d.id = c.deposit_id) = 'rejected'"

/*
 * The range of units that the chain may show for each asset. `low`: the ledger's wallet balance, which already excludes
 * signed payouts, less the fees of unsettled transactions in the native currency ($4). `high`: the balance plus the signed
 * payouts, which may not be mined yet, plus the deposits in blocks that are not credited yet.
 */
const POSITIONS = `
select b.asset_id, b.units as wallet, coalesce(k.units, 0) as coins,
  coalesce((select sum(p.units) from payouts p where p.network = $1 and p.asset_id = b.asset_id and p.state = 'signed'
      and p.purpose not in ('split', 'consolidate')), 0)
  + coalesce((select sum(d.units) from deposits d where d.network = $1 and d.asset_id = b.asset_id and d.status = 'seen'
      and d.block_height is not null and ($3 or d.exchange_id is null)), 0) as moving,
  case when b.asset_id <> $4 then 0 else coalesce((select sum(f.fee) from (
    select max(a.fee_units) as fee from attempts a join transactions t on t.id = a.transaction_id
    where t.network = $1 and t.branch <> 'deposit' and t.state = 'live' group by t.id) f), 0) end as fees
from balances b
left join (select sum(c.units) as units from coins c
  where c.network = $1 and c.block_height is not null and c.spent_by is null and not (${IS_REJECTED})) k on $3
where b.account = $2 and split_part(b.asset_id, '@', 2) = $1`

/** Deposits of one exchange that are summed; an address with more is not compared. */
const SUMMED_MAX = 1_000

/** Open alarms that are read again in one run. */
const REPORTED_MAX = 200

const LARGEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Units that reached a deposit address: the deposits of its exchange, and gas for the sweep of another asset. */
const DEPOSIT_TARGETS = `
with unseen as materialized (
  select substring(subject from 8)::uuid as id, seen_at from alarms where subject like 'unseen:%'),
reported as (
  select id from unseen join exchanges using (id) where from_network = $1 order by seen_at limit $4),
watched as (select id from reported union select unnest($2::uuid[]))
select e.id as exchange_id, t.address, e.from_currency || '@' || e.from_network as asset_id,
  r.units + case when e.legs -> 0 -> 'from' ->> 'contract' is not null then 0 else coalesce((select sum(units) from payouts
    where network = $1 and address = t.address and purpose = 'gas' and state <> 'void'), 0) end as recorded,
  exists (select 1 from alarms a where a.subject = 'unseen:' || e.id) as is_reported
from watched join exchanges e using (id) join deposit_targets t on t.exchange_id = e.id and t.leg = 0
cross join lateral (
  select coalesce(sum(d.units) filter (where d.contract is not distinct from e.legs -> 0 -> 'from' ->> 'contract'), 0) as units,
    count(*) as count
  from (select units, contract from deposits where exchange_id = e.id limit $3) d) r
where e.from_network = $1 and r.count < $3`
type TargetRow = { exchange_id: string; address: string; asset_id: AssetId; recorded: string; is_reported: boolean }

const FREE_UTXOS = `select c.outpoint, c.units, c.branch, c.key_index, d.identity, d.tx_hash from coins c
  left join deposits d on d.id = c.deposit_id
  where c.network = $1 and c.block_height is not null and c.spent_by is null and c.reserved_by is null and not (${IS_REJECTED})`

type RecordedRow = UtxoRow & { identity: string | null; tx_hash: string | null }

const toRecorded = (row: RecordedRow): RecordedUtxo => {
  const { identity, tx_hash: txHash } = row
  return { ...toUtxo(row), deposit: identity === null || txHash === null ? null : { identity, txHash } }
}

/** Two checks, because neither sees every fault: each asset's balances sum to zero, and each balance equals its postings. */
const LEDGER_FAULTS = `
with posted as (
  select account, asset_id, sum(units) as units from (
    select debit as account, asset_id, units from postings union all select credit, asset_id, -units from postings) changes
  group by account, asset_id)
(select null as account, asset_id, sum(units) as stored, 0 as posted from balances group by asset_id having sum(units) <> 0
 union all
 select account, asset_id, coalesce(b.units, 0), coalesce(p.units, 0) from balances b full join posted p using (account, asset_id)
 where coalesce(b.units, 0) <> coalesce(p.units, 0))
order by account nulls first, asset_id limit $1`
type FaultRow = { account: string | null; asset_id: AssetId; stored: string; posted: string }
/** Reads all postings: minutes for hundreds of millions. */
const LEDGER_MS = 600_000

/** Of an alarm `difference:…`, `missing` is a list of outputs. */
const SHORTFALLS = `
select a.subject, missing.units, coalesce(a.detail ->> 'acknowledged', '0') as acknowledged from alarms a cross join lateral (select case
  when starts_with(a.subject, 'difference:') and split_part(a.subject, '@', 2) = $1 and starts_with(a.detail ->> 'difference', '-')
    then trim(leading '-' from a.detail ->> 'difference')
  when starts_with(a.subject, 'unswept:' || $1 || ':') then a.detail ->> 'missing' end as units) missing
where missing.units is not null order by a.subject for update of a`
type ShortfallRow = { subject: string; units: string; acknowledged: string }

/** An exchange without a payment by its expiry owes nothing. */
const OPEN_ELSEWHERE = `with open as (
    select n.network, e.id as exchange_id, 'exchange' as kind, e.created_at from exchanges e
      cross join lateral (select distinct side.value ->> 'network' as network
        from jsonb_array_elements(e.legs) as leg cross join lateral jsonb_each(leg.value) as side) n
      where e.status not in ('finished', 'failed', 'refunded')
        and (e.status <> 'pending' or e.expires_at > statement_timestamp()) and n.network <> all ($1::text[])
    union all select network, null, 'transaction', created_at from transactions
      where state in ('live', 'confirmed') and network <> all ($1::text[])
    union all select network, null, 'payout', created_at from payouts where state = 'reserved' and network <> all ($1::text[]))
  select network, count(*) filter (where kind = 'exchange')::int as exchanges,
    (array_agg(exchange_id order by created_at desc) filter (where kind = 'exchange'))[1]::text as "exchangeId",
    count(*) filter (where kind = 'transaction')::int as transactions, count(*) filter (where kind = 'payout')::int as payouts
  from open group by network order by network`

export function createReconciliationStore(sql: Sql, database: Database): ReconciliationStore {
  return {
    async positions(network, native) {
      const [utxo] = await sql.query('select 1 from coins where network = $1 limit 1', [network])
      const rows = await sql.query<{ asset_id: AssetId; wallet: string; coins: string; moving: string; fees: string }>(
        POSITIONS,
        [network, accounts.wallet, utxo !== undefined, native],
      )
      return rows.map((row) => ({
        assetId: row.asset_id,
        utxoUnits: BigInt(row.coins),
        low: BigInt(row.wallet) - BigInt(row.fees),
        high: BigInt(row.wallet) + BigInt(row.moving),
      }))
    },
    async freeUtxos(network, after, limit) {
      const rows = await sql.query<RecordedRow>(`${FREE_UTXOS} and c.outpoint > $2 order by c.outpoint limit $3`, [
        network,
        after,
        limit,
      ])
      return rows.map(toRecorded)
    },
    async freeUtxosAmong(network, outpoints) {
      if (outpoints.length === 0) return []
      const rows = await sql.query<RecordedRow>(`${FREE_UTXOS} and c.outpoint = any($2::text[])`, [network, outpoints])
      return rows.map(toRecorded)
    },
    async openExchanges(network, before, limit) {
      const rows = await sql.query<{ id: string }>(
        `select id from exchanges where from_network = $1 and status not in ('finished', 'failed', 'refunded')
         and id < $2 order by id desc limit $3`,
        [network, before ?? LARGEST_ID, limit],
      )
      return rows.map(({ id }) => id)
    },
    async depositTargets(network, exchangeIds) {
      const rows = await sql.query<TargetRow>(DEPOSIT_TARGETS, [network, exchangeIds, SUMMED_MAX, REPORTED_MAX])
      return rows.map((row) => ({
        exchangeId: row.exchange_id,
        address: row.address,
        assetId: row.asset_id,
        recorded: BigInt(row.recorded),
        isReported: row.is_reported,
      }))
    },
    unsweptDeposits: (network, native, suspects, next) => unsweptDeposits(sql, network, native, suspects, next),
    listShortfalls: (network) => listShortfalls(sql, network),
    acknowledgeShortfalls: (shortfalls) => acknowledgeShortfalls(sql, shortfalls),
    async ledgerFaults(limit) {
      const rows = await database.transaction((tx) => tx.query<FaultRow>(LEDGER_FAULTS, [limit]), {
        statementTimeoutMs: LEDGER_MS,
      })
      return rows.map(({ account, asset_id, stored, posted }) =>
        account === null
          ? { kind: 'sum', assetId: asset_id, units: BigInt(stored) }
          : { kind: 'balance', assetId: asset_id, account, stored: BigInt(stored), posted: BigInt(posted) },
      )
    },
    listOpenElsewhere: (networks) => sql.query<OpenOnNetwork>(OPEN_ELSEWHERE, [networks]),
    listStalled: (networks, agoMs) => sql.query<StalledNetwork>(STALLED, [networks, agoMs]),
    recordComparison: (network) => recordComparison(sql, network),
    listUncompared: (networks, agoMs) => listUncompared(sql, networks, agoMs),
    openByStatus: () => openByStatus(sql),
  }
}

/** `scanned_at` counts for a network that was never recorded up to the head. */
const STALLED = `
select network, height::int as height, to_char(coalesce(caught_up_at, scanned_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
from cursors where network = any($1::text[]) and coalesce(caught_up_at, scanned_at) < clock_timestamp() - $2 * interval '1 ms'`

/** How often the open exchanges are counted, by one process for all. */
const COUNT_EVERY_MS = 4_000

async function openByStatus(sql: Sql): Promise<ReadonlyMap<string, number>> {
  if (await claimTurn(sql, 'open exchanges', COUNT_EVERY_MS))
    await sql.query(
      `update turns set result = (select coalesce(jsonb_object_agg(status, count), '{}') from (
         select status, count(*) as count from exchanges
         where status not in ('finished', 'failed', 'refunded') group by status) open) where name = 'open exchanges'`,
    )
  const rows = await sql.query<{ status: string; count: number }>(
    "select key as status, value::int as count from turns, jsonb_each_text(result) where name = 'open exchanges'",
  )
  return new Map(rows.map(({ status, count }) => [status, count]))
}

async function listShortfalls(sql: Sql, network: string): Promise<readonly MissingUnits[]> {
  const rows = await sql.query<ShortfallRow>(SHORTFALLS, [network])
  return rows.map(({ subject, units, acknowledged }) => ({
    subject,
    units: BigInt(units),
    acknowledgedUnits: BigInt(acknowledged),
  }))
}

async function acknowledgeShortfalls(
  sql: Sql,
  shortfalls: readonly Pick<MissingUnits, 'subject' | 'units'>[],
): Promise<void> {
  await sql.query(
    `update alarms a set detail = a.detail || jsonb_build_object('acknowledged', s.units)
     from unnest($1::text[], $2::text[]) as s (subject, units) where a.subject = s.subject`,
    [shortfalls.map(({ subject }) => subject), shortfalls.map(({ units }) => units.toString())],
  )
}
