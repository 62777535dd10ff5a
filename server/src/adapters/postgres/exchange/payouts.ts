import { isToOurselves } from '../../../core/domain/payout-purpose.ts'
import { type PayeeMacs, payoutPayee } from '../../../exchange/ports/payee-macs.ts'
import type { Payout, PayoutStore, WaitingPayout } from '../../../exchange/ports/store/payouts.ts'
import { isUuid } from '../../../lib/id.ts'
import { hasRow, type RowOf, type Sql } from '../core/database.ts'

type Row = RowOf<Omit<Payout, 'from' | 'toKeyIndex' | 'isAuthentic'>, 'units'> & {
  toKeyIndex: string | null
  branch: 'deposit' | 'hot'
  keyIndex: string
  /** On a later leg: the deposit that the customer paid for the leg before. */
  sourceDeposit: string | null
}

type Backing = Pick<Row, 'depositId' | 'sourceDeposit'>

const PARTNER = "coalesce(e.partner_id::text, substring(p.owed_from from '^liability:partner:(.*)$'))"
const FROM =
  'from payouts p left join exchanges e on e.id = p.exchange_id left join executions x on x.id = p.execution_id'
const COLUMNS = `p.id, p.exchange_id as "exchangeId", p.execution_id as "executionId", p.deposit_id as "depositId", p.leg,
  ${PARTNER} as "partnerId", p.purpose, p.network,
  p.asset_id as "assetId", p.branch, p.key_index as "keyIndex", p.address,
  case when p.purpose = 'gas' then (select t.key_index from deposit_targets t
    where t.network = p.network and t.address = p.address limit 1) end as "toKeyIndex", nullif(p.memo, '') as memo, p.units, p.approved,
  p.state, x.order_id as "orderId", p.owed_from as "owedFrom", p.mac, p.lost as "isReversed",
  (select s.deposit_id from executions s where s.id = x.source_execution) as "sourceDeposit" ${FROM}`

const CREDITED = "d.status = 'credited' and d.block_height <= k.height - d.required_confirmations + 1"
/**
 * A payout is signed only while its deposit is credited and has its required confirmations (I-34). On a later leg this also
 * holds for the customer's deposit on the leg before, because the leg's own deposit is our payment to ourselves.
 */
const BACKED = `exists (select 1 from deposits d join cursors k on k.network = d.network where d.id = p.deposit_id and ${CREDITED})
  and (x.source_execution is null or exists (select 1 from executions s join deposits d on d.id = s.deposit_id
    join cursors k on k.network = d.network where s.id = x.source_execution and ${CREDITED}))`

/** Payouts of the network $1 that can be signed now: not held, not postponed, not paused, and backed. */
const DUE = `p.network = $1 and p.state = 'reserved' and p.attention is null
  and (p.held_until is null or p.held_until < clock_timestamp()) and (p.deposit_id is null or ${BACKED})
  and not exists (select 1 from pauses s where s.scope in ('all', 'payouts:all', 'network:' || p.network,
    'payouts:' || p.network, 'asset:' || p.asset_id, 'partner:' || ${PARTNER}))`

const POSTPONED_MAX_MS = 300_000

/** The condition of the index `payouts_waiting`. */
const WAITING = "p.state = 'reserved' and p.attention is null and p.waits_for is not null"

export function createPayoutStore(sql: Sql, locking: boolean, macs: PayeeMacs): PayoutStore {
  const toPayout = createToPayout(macs)
  return {
    insert: (payout) => insert(sql, payout, macs),
    queue: async (network, limit) => (await queue(sql, locking, network, limit)).map(toPayout),
    async listByTransaction(transactionId) {
      return (await listByTransaction(sql, transactionId)).map(toPayout)
    },
    async haveCreditedDeposits(transactionId) {
      const rows = await listByTransaction(sql, transactionId)
      return (await lockBacked(sql, rows)).length === rows.length
    },
    isBacked: (executionId) => isBacked(sql, executionId),
    find: async (ids) => (await find(sql, locking, ids)).map(toPayout),
    async sign(ids, transactionId) {
      await sql.query("update payouts set state = 'signed', transaction_id = $2 where id = any($1::uuid[])", [
        ids,
        transactionId,
      ])
    },
    async confirm(transactionId) {
      await sql.query("update payouts set state = 'confirmed' where transaction_id = $1 and state = 'signed'", [
        transactionId,
      ])
    },
    async holdForOperator(ids, attention) {
      await sql.query(
        "update payouts set attention = $2, held_until = null where id = any($1::uuid[]) and state = 'reserved'",
        [ids, attention],
      )
    },
    async retryAfter(ids, delayMs) {
      await sql.query(
        "update payouts set held_until = clock_timestamp() + $2::int * interval '1 millisecond' where id = any($1::uuid[]) and state = 'reserved'",
        [ids, delayMs],
      )
    },
    async postpone(ids, waitsFor, maxMs = POSTPONED_MAX_MS) {
      await sql.query(
        `update payouts set postponed = postponed + 1, waits_for = $3,
           held_until = clock_timestamp() + least(5000 * 2 ^ least(postponed, 6), $2) * interval '1 millisecond'
         where id = any($1::uuid[]) and state = 'reserved'`,
        [ids, maxMs, waitsFor],
      )
    },
    oldestWaiting: (waitsFor) => oldestWaiting(sql, waitsFor),
    async clearEndedWaits(kinds) {
      await sql.query(
        `delete from alarms a where split_part(subject, ':', 1) = any($1::text[])
           and not exists (select 1 from payouts p where p.waits_for = a.subject and ${WAITING})`,
        [kinds],
      )
    },
    async requeue(transactionId, attention) {
      await sql.query(
        "update payouts set state = 'reserved', transaction_id = null, attention = $2, held_until = null, postponed = 0, waits_for = null where transaction_id = $1 and state = 'signed'",
        [transactionId, attention],
      )
    },
    async approve(id) {
      await sql.query(
        "update payouts set attention = null, held_until = null, postponed = 0, waits_for = null, approved = true where id = $1 and state = 'reserved'",
        [id],
      )
    },
    void: (id) =>
      hasRow(sql, "update payouts set state = 'void' where id = $1 and state = 'reserved' returning 1", [id]),
  }
}

async function insert(sql: Sql, payout: Parameters<PayoutStore['insert']>[0], macs: PayeeMacs): Promise<void> {
  await sql.query(
    `insert into payouts (id, exchange_id, execution_id, deposit_id, leg, purpose, network, asset_id, branch, key_index, address, memo, units, owed_from, held_until, mac)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9,
       coalesce($10, (select key_index from house_addresses where network = $7 and branch = 'hot')),
       $11, $12, $13, $14, clock_timestamp() + $15::bigint * interval '1 millisecond', $16)`,
    [
      payout.id,
      payout.exchangeId,
      payout.executionId,
      payout.depositId,
      payout.leg,
      payout.purpose,
      payout.network,
      payout.assetId,
      payout.from === 'hot' ? 'hot' : payout.from.branch,
      payout.from === 'hot' ? null : payout.from.index,
      payout.address,
      payout.memo ?? '',
      payout.units,
      payout.owedFrom ?? null,
      payout.delayMs ?? null,
      isToOurselves(payout) ? null : macs.of(payoutPayee(payout)),
    ],
  )
}

const listByTransaction = (sql: Sql, transactionId: string): Promise<readonly Row[]> =>
  sql.query<Row>(
    `select ${COLUMNS} where p.transaction_id = $1 order by p.id`,
    [transactionId],
    'payouts-of-transaction',
  )

async function oldestWaiting(sql: Sql, waitsFor: string): Promise<WaitingPayout | null> {
  const [row] = await sql.query<RowOf<WaitingPayout, 'units'>>(
    `select p.id, p.exchange_id as "exchangeId", p.asset_id as "assetId", p.units, p.created_at as "createdAt",
       (select count(*)::int from payouts p where p.waits_for = $1 and ${WAITING}) as count
     from payouts p where p.waits_for = $1 and ${WAITING} order by p.created_at limit 1`,
    [waitsFor],
  )
  return row ? { ...row, units: BigInt(row.units) } : null
}

async function find(sql: Sql, locking: boolean, ids: readonly string[]): Promise<readonly Row[]> {
  const lock = locking ? ' for no key update of p' : ''
  return sql.query<Row>(
    `select ${COLUMNS} where p.id = any($1::uuid[]) order by p.id${lock}`,
    [ids.filter(isUuid)],
    locking ? 'lock-payouts' : 'find-payouts',
  )
}

async function queue(sql: Sql, locking: boolean, network: string, limit: number): Promise<readonly Row[]> {
  const rows = await sql.query<Row>(
    `select ${COLUMNS} where ${DUE}
       and (p.purpose <> 'consolidate' or not exists (select 1 ${FROM} where ${DUE} and p.purpose <> 'consolidate'))
     order by coalesce(p.held_until, p.created_at), p.created_at, p.id limit $2${locking ? ' for no key update of p skip locked' : ''}`,
    [network, limit],
    locking ? 'lock-payout-queue' : 'payout-queue',
  )
  return locking ? lockBacked(sql, rows) : rows
}

/** The rows whose deposits are credited. Locks the deposits, so that no reorg changes them before the signature is committed. */
async function lockBacked<R extends Backing>(sql: Sql, rows: readonly R[]): Promise<readonly R[]> {
  const backing = (row: R) => [row.depositId, row.sourceDeposit].flatMap((id) => (id === null ? [] : [id]))
  const deposits = rows.flatMap(backing)
  if (deposits.length === 0) return rows
  const credited = await sql.query<{ id: string }>(
    `select d.id from deposits d join cursors k on k.network = d.network where d.id = any($1::bigint[]) and ${CREDITED}
       order by d.id for share of d`,
    [deposits],
    'lock-backing-deposits',
  )
  const ids = new Set(credited.map(({ id }) => id))
  return rows.filter((row) => backing(row).every((id) => ids.has(id)))
}

async function isBacked(sql: Sql, executionId: string): Promise<boolean> {
  const rows = await sql.query<Backing>(
    `select x.deposit_id as "depositId", (select s.deposit_id from executions s where s.id = x.source_execution) as "sourceDeposit"
     from executions x where x.id = $1`,
    [executionId],
  )
  return (await lockBacked(sql, rows)).length === 1
}

const createToPayout =
  (macs: PayeeMacs) =>
  ({ branch, keyIndex, toKeyIndex, sourceDeposit: _, ...row }: Row): Payout => {
    const units = BigInt(row.units)
    return {
      ...row,
      toKeyIndex: toKeyIndex === null ? null : Number(toKeyIndex),
      from: { branch, index: Number(keyIndex) },
      units,
      isAuthentic: isToOurselves(row) || macs.isValid(payoutPayee({ ...row, units }), row.mac),
    }
  }
