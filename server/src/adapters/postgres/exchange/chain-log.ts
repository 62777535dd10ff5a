import type { BlockRef } from '../../../core/ports/chain.ts'
import type { PendingPayment } from '../../../exchange/ports/chain.ts'
import type { PayeeMacs } from '../../../exchange/ports/payee-macs.ts'
import type { ChainLog } from '../../../exchange/ports/store/chain-log.ts'
import { hasRow, type Sql } from '../core/database.ts'
import { schedule, wake } from '../core/wake.ts'
import { appendBlock } from './append-block.ts'
import { findBlockHash, findCursor, lockCursor } from './cursor.ts'
import { recordMissed } from './record-missed.ts'

/** A deposit that returned with other units takes them when its credit is reversed, and is checked again. */
const SAVE_DEPOSIT = `
update deposits set status = case when returned_height is not null then 'seen' else $2 end, credited_units = $3, credits = $4, lost = $5,
  units = coalesce(returned_units, units), block_height = coalesce(returned_height, block_height),
  block_hash = coalesce(returned_hash, block_hash), orphaned_at = case when returned_height is null then orphaned_at end,
  returned_units = null, returned_height = null, returned_hash = null
where id = $1`

export function createChainLog(sql: Sql, macs: PayeeMacs): ChainLog {
  return {
    cursor: (network) => findCursor(sql, network),
    blockHash: (network, height) => findBlockHash(sql, network, height),
    append: (network, block, rules) => appendBlock(sql, network, block, { ...rules, macs }),
    recordMissed: (network, block, disputed, rules) => recordMissed(sql, network, block, disputed, { ...rules, macs }),
    begin: (network, block) => begin(sql, network, block),
    rewind: (network, height, from) => rewind(sql, network, height, from),
    recordSightings: (network, transfers) => recordSightings(sql, network, transfers),
    listSightings: (limit) =>
      sql.query(
        `select network, tx_hash as "txHash", exchange_id as "exchangeId" from sightings
         where gone_at is null order by last_seen_at limit $1`,
        [limit],
      ),
    async listSightingsToInspect(network, limit) {
      const rows = await sql.query<{ tx_hash: string }>(
        `select tx_hash from sightings where network = $1 and stops_clock is null and gone_at is null
         order by first_seen_at limit $2`,
        [network, limit],
        'sightings-to-inspect',
      )
      return rows.map((row) => row.tx_hash)
    },
    recordInspection: (network, txHash, payment) => recordInspection(sql, network, txHash, payment),
    async recordCaughtUp(network, agoMs) {
      await sql.query(
        `update cursors set caught_up_at = clock_timestamp() - $2::float8 * interval '1 millisecond' where network = $1`,
        [network, agoMs],
      )
    },
    async recordLookup(network, txHash, isMissing) {
      const rows = await sql.query<{ exchange_id: string }>(
        `update sightings set last_seen_at = clock_timestamp(), gone_at = case when $3 then clock_timestamp() end
         where network = $1 and tx_hash = $2 and gone_at is null returning exchange_id`,
        [network, txHash, isMissing],
      )
      if (isMissing)
        await wake(
          sql,
          rows.map((row) => ({ kind: 'exchange', id: row.exchange_id })),
        )
    },
    async saveDeposit({ id, status, creditedUnits, credits, isBookedAsLoss }) {
      await sql.query(SAVE_DEPOSIT, [id, status, creditedUnits, credits, isBookedAsLoss], 'save-deposit')
    },
  }
}

/** Only the first watcher starts the log: the first block of another one could be above blocks that were never scanned. */
function begin(
  sql: Sql,
  network: string,
  { height, hash, parentHash }: { height: number; hash: string; parentHash: string },
): Promise<boolean> {
  return hasRow(
    sql,
    `with begun as (insert into cursors (network, height, hash) values ($1, $2, $3) on conflict (network) do nothing returning network)
     insert into blocks (network, height, hash, parent_hash) select network, $2, $3, $4 from begun returning 1`,
    [network, height, hash, parentHash],
  )
}

/** Rolls back all blocks above `height`. Their deposits and transactions are in no block until a new block includes them. */
async function rewind(sql: Sql, network: string, height: number, from: BlockRef): Promise<boolean> {
  const cursor = await lockCursor(sql, network)
  // Another watcher has changed the log since: its blocks may be valid.
  if (!cursor || cursor.hash !== from.hash || cursor.height <= height) return false
  const paid = await sql.query<{ exchange_id: string }>(
    'select distinct exchange_id from deposits where network = $1 and block_height > $2 and exchange_id is not null',
    [network, height],
  )
  await schedule(
    sql,
    paid.map((row) => row.exchange_id),
  )
  const orphanedDeposits = await sql.query<{ exchange_id: string | null }>(
    `update deposits set block_height = null, block_hash = null, orphaned_at = clock_timestamp()
     where network = $1 and block_height > $2 returning exchange_id`,
    [network, height],
  )
  await sql.query(
    `update deposits set returned_units = null, returned_height = null, returned_hash = null
     where network = $1 and returned_height > $2`,
    [network, height],
  )
  const orphanedAttempts = await sql.query<{ transaction_id: string }>(
    'update attempts set block_height = null, block_hash = null where network = $1 and block_height > $2 returning transaction_id',
    [network, height],
  )
  // A reorg deeper than finality: track them again until they are final or proved to be invalid.
  await sql.query(
    "update transactions set state = 'confirmed', next_check_at = clock_timestamp() where id = any($1::uuid[]) and state = 'final'",
    [orphanedAttempts.map(({ transaction_id }) => transaction_id)],
  )
  await sql.query(
    'update coins set block_height = null, block_hash = null, gone_at = $3 where network = $1 and block_height > $2',
    [network, height, from.height],
  )
  await sql.query('update coins set spent_by = null, spent_height = null where network = $1 and spent_height > $2', [
    network,
    height,
  ])
  await sql.query('delete from blocks where network = $1 and height > $2', [network, height])
  await sql.query(
    `update cursors set height = $2, hash = (select hash from blocks where network = $1 and height = $2), scanned_at = clock_timestamp()
     where network = $1`,
    [network, height],
  )
  await wake(sql, [
    ...orphanedDeposits.flatMap((row) =>
      row.exchange_id === null ? [] : [{ kind: 'exchange' as const, id: row.exchange_id }],
    ),
    ...orphanedAttempts.map((row) => ({ kind: 'transaction' as const, id: row.transaction_id })),
  ])
  return true
}

async function recordSightings(
  sql: Sql,
  network: string,
  transfers: Parameters<ChainLog['recordSightings']>[1],
): Promise<void> {
  if (transfers.length === 0) return
  const rows = await sql.query<{ exchange_id: string }>(
    `insert into sightings (network, tx_hash, exchange_id, units, stops_clock)
     select $1, s.tx_hash, t.exchange_id, array_agg(s.units),
       -- Later it is too late for a fixed rate, whenever it was first seen.
       case when e.fixed_until + e.fixed_inclusion_ms * interval '1 millisecond' > clock_timestamp() then null else false end
     from unnest($2::text[], $3::text[], $4::text[], $5::numeric[]) as s (tx_hash, address, memo, units)
       join deposit_targets t on t.network = $1 and t.address = s.address and t.memo = s.memo and t.leg = 0
       join exchanges e on e.id = t.exchange_id
     where not exists (select 1 from deposits d where d.network = $1 and d.tx_hash = s.tx_hash and d.block_height is not null)
       and not exists (select 1 from attempts a where a.network = $1 and a.tx_hash = s.tx_hash)
       and not exists (select 1 from forgotten_payouts f where f.network = $1 and f.tx_hash = s.tx_hash)
     group by s.tx_hash, t.exchange_id, e.fixed_until, e.fixed_inclusion_ms
     on conflict (network, tx_hash, exchange_id) do update set gone_at = null, first_seen_at = clock_timestamp(),
       last_seen_at = clock_timestamp(), stops_clock = excluded.stops_clock where sightings.gone_at is not null
     returning exchange_id`,
    [
      network,
      transfers.map(({ txHash }) => txHash),
      transfers.map(({ address }) => address),
      transfers.map(({ memo }) => memo ?? ''),
      transfers.map(({ units }) => units.toString()),
    ],
  )
  await wake(
    sql,
    rows.map((row) => ({ kind: 'exchange', id: row.exchange_id })),
  )
}

/** A payment that we saw after its lock may have been at a node within it, while we were not watching (M16). */
async function recordInspection(
  sql: Sql,
  network: string,
  txHash: string,
  { stopsClock, spends, seenAt }: PendingPayment,
): Promise<void> {
  await sql.query(
    `update sightings s set stops_clock = $3, spends = $4::text[], first_seen_at =
       case when s.first_seen_at > e.fixed_until then least(s.first_seen_at, $5::timestamptz) else s.first_seen_at end
     from exchanges e where e.id = s.exchange_id and s.network = $1 and s.tx_hash = $2 and s.stops_clock is null`,
    [network, txHash, stopsClock, spends, seenAt],
  )
}
