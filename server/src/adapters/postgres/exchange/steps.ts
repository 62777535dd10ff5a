import type { AssetId } from '../../../core/domain/asset.ts'
import {
  type Exchange,
  type ExchangeStatus,
  exchangeStatuses,
  type StatusReason,
} from '../../../exchange/domain/exchange.ts'
import { isTerminal } from '../../../exchange/domain/lifecycle.ts'
import type { PrivatePlan } from '../../../exchange/domain/private-plan.ts'
import { type PayeeMacs, recipientPayee, refundPayee } from '../../../exchange/ports/payee-macs.ts'
import type {
  DepositTarget,
  ExchangeChange,
  ExecutionChange,
  ExecutionPosition,
  ExecutionSummary,
  StepContext,
  StepStore,
} from '../../../exchange/ports/store/steps.ts'
import { hasRow, memoOrNull, type Sql, unitsOrNull } from '../core/database.ts'
import { readExecutions } from './executions.ts'
import { type ExchangeRow, exchangeColumns, toExchange } from './rows.ts'

/** Maximum executions that one transaction of a step processes. */
const WINDOW = 50
const OPEN = exchangeStatuses.filter((status) => !isTerminal(status))

export function createStepStore(sql: Sql, locking: boolean, macs: PayeeMacs): StepStore {
  return {
    load: (id, after) => load(sql, id, after, locking, macs),
    summarize: (id) => summarize(sql, id),
    isRateUsed: (exchangeId, position, assetId) => isRateUsed(sql, exchangeId, position, assetId),
    listEarlierDeposits: (exchangeId, position, assetId) => listEarlierDeposits(sql, exchangeId, position, assetId),
    repeatsLostDeposit: (exchangeId, deposit) => repeatsLostDeposit(sql, exchangeId, deposit),
    heldUnits: (exchangeId, deposit) => heldUnits(sql, exchangeId, deposit),
    saveExecution: (exchangeId, change, event, detail) => saveExecution(sql, exchangeId, change, event, detail),
    save: (id, change) => save(sql, id, change),
    async findNextDestination(sourceId) {
      const [row] = await sql.query<{ address: string; memo: string }>(
        `select d.address, d.memo from executions x join deposits d on d.id = x.deposit_id where x.source_execution = $1`,
        [sourceId],
      )
      return row ? { address: row.address, memo: memoOrNull(row.memo) } : null
    },
    addDepositTarget: (target) => addTarget(sql, target),
  }
}

/** Deposits that disagree with their accounting, even if their execution is closed. The index `deposits_to_repair` has the same condition. */
const NEEDS_REPAIR = `((d.block_height is null and d.status = 'credited') or
  (d.block_height is not null and (d.lost or d.status in ('seen', 'reversed'))))`

/** Positions of the next window. Each part reads at most one window from its own index, however many executions exist. */
const POSITIONS = `
  (select w.leg, w.deposit_id from unnest($2::text[]) as s (status) cross join lateral (
     select x.leg, x.deposit_id from executions x
     where x.exchange_id = $1 and x.status = s.status and (x.leg, x.deposit_id) > ($3::int, $4::bigint)
     order by x.leg, x.deposit_id limit ${WINDOW}) w)
  union
  (select d.leg, d.id from deposits d
   where d.exchange_id = $1 and ${NEEDS_REPAIR} and (d.leg, d.id) > ($3::int, $4::bigint)
   order by d.leg, d.id limit ${WINDOW})
  order by leg, deposit_id limit ${WINDOW}`

type ExchangeStepRow = ExchangeRow & {
  now: Date
  max_units: string | null
  sighted: boolean
  watched_until: Date | null
  stepped_leg: number | null
  stepped_to: string | null
  plan: PrivatePlan | null
  refund_to_sender: boolean
  recipient_mac: string | null
  refund_mac: string | null
}

async function load(
  sql: Sql,
  id: string,
  after: ExecutionPosition | null | undefined,
  locking: boolean,
  macs: PayeeMacs,
): Promise<StepContext | null> {
  const [row] = await sql.query<ExchangeStepRow>(
    `select ${exchangeColumns}, e.plan, e.max_units, e.recipient_mac, e.refund_mac, clock_timestamp() as now, e.stepped_to, (select d.leg from deposits d where d.id = e.stepped_to) as stepped_leg,
       exists (select 1 from sightings s where s.exchange_id = e.id and s.gone_at is null) as sighted,
       (select c.caught_up_at from cursors c where c.network = e.from_network) as watched_until,
       exists (select 1 from partners p where p.id = e.partner_id and p.refund_to_sender) as refund_to_sender
     from exchanges e join deposit_targets t on t.exchange_id = e.id and t.leg = 0 where e.id = $1${locking ? ' for no key update of e' : ''}`,
    [id],
    locking ? 'lock-exchange-of-step' : 'exchange-of-step',
  )
  if (!row) return null
  const exchange = toExchange(row)
  const lastPosition = row.stepped_to === null ? null : { leg: row.stepped_leg ?? 0, depositId: row.stepped_to }
  const start = after === undefined ? lastPosition : after
  const positions = await sql.query<{ leg: number; deposit_id: string }>(
    POSITIONS,
    [id, OPEN, start?.leg ?? -1, start?.depositId ?? 0],
    'positions-of-step',
  )
  const last = positions.length < WINDOW ? undefined : positions.at(-1)
  const executions = await readExecutions(
    sql,
    positions.map((position) => position.deposit_id),
    macs,
  )
  const networks = [...new Set(executions.map(({ deposit }) => deposit.network))]
  const heads =
    networks.length === 0
      ? []
      : await sql.query<{ network: string; height: string }>(
          'select network, height from cursors where network = any($1)',
          [networks],
          'heads-of-step',
        )
  return {
    exchange: { ...exchange, ...(row.plan === null ? {} : { plan: row.plan }) },
    refundToSender: row.refund_to_sender,
    authentic: authenticPayees(exchange, row, macs),
    executions,
    after: start,
    next: last === undefined ? null : { leg: last.leg, depositId: last.deposit_id },
    acceptedMaxUnits: unitsOrNull(row.max_units),
    sighted: row.sighted,
    watchedUntil: row.watched_until,
    now: row.now,
    heads: new Map(heads.map((head) => [head.network, Number(head.height)])),
  }
}

/** One index search per status, and one for a deposit that needs repair. */
async function summarize(sql: Sql, id: string): Promise<ExecutionSummary> {
  const latest = await sql.query<{ leg: number; status: ExchangeStatus; reason: StatusReason | null }>(
    `select w.leg, w.status, w.reason from unnest($2::text[]) as s (status) cross join lateral (
       select x.status, x.reason, x.leg, x.deposit_id from executions x where x.exchange_id = $1 and x.status = s.status
       order by x.leg desc, x.deposit_id desc limit 1) w
     order by w.leg, w.deposit_id`,
    [id, exchangeStatuses],
    'latest-executions',
  )
  const repairQuery = `select 1 from deposits d where d.exchange_id = $1 and ${NEEDS_REPAIR} limit 1`
  return { latestByStatus: latest, needsRepair: await hasRow(sql, repairQuery, [id], 'deposits-to-repair') }
}

function isRateUsed(
  sql: Sql,
  exchangeId: string,
  { leg, depositId }: ExecutionPosition,
  assetId: AssetId,
): Promise<boolean> {
  return hasRow(
    sql,
    `select 1 from executions x join deposits d on d.id = x.deposit_id
     where x.exchange_id = $1 and x.leg = $2 and x.rate_kind <> 'floating' and x.deposit_id <> $3 and d.asset_id = $4 limit 1`,
    [exchangeId, leg, depositId, assetId],
    'is-rate-used',
  )
}

function repeatsLostDeposit(
  sql: Sql,
  exchangeId: string,
  { id, network, txHash }: Parameters<StepStore['repeatsLostDeposit']>[1],
): Promise<boolean> {
  return hasRow(
    sql,
    `select 1 from deposits where network = $1 and tx_hash = $2 and exchange_id = $3 and id <> $4
       and block_height is null and returned_height is null and (lost or status = 'credited') limit 1`,
    [network, txHash, exchangeId, id],
    'repeats-lost-deposit',
  )
}

async function heldUnits(
  sql: Sql,
  exchangeId: string,
  { id, network, address, assetId }: Parameters<StepStore['heldUnits']>[1],
): Promise<bigint | null> {
  const [row] = await sql.query<{ units: string; is_moving: boolean }>(
    `select coalesce(sum(greatest(d.credited_units - coalesce(case when p.state = 'confirmed' then coalesce(d.swept_units, d.credited_units)
         else d.swept_before end, 0), 0)), 0) as units, coalesce(bool_or(p.state = 'signed'), false) as is_moving
     from deposits d left join payouts p on p.id = d.swept_by
     where d.exchange_id = $1 and d.network = $2 and d.address = $3 and d.asset_id = $4 and d.id <> $5
       and d.status = 'credited' and d.block_height is not null`,
    [exchangeId, network, address, assetId, id],
    'held-units',
  )
  return row === undefined || row.is_moving ? null : BigInt(row.units)
}

/** A stranger can send any number of deposits: if one of them can execute at the rate, one of the largest can. */
const EARLIER_MAX = 20

async function listEarlierDeposits(
  sql: Sql,
  exchangeId: string,
  { leg, depositId }: ExecutionPosition,
  assetId: AssetId,
): ReturnType<StepStore['listEarlierDeposits']> {
  const rows = await sql.query<{ units: string; first_seen_at: Date; included_at: Date }>(
    `select coalesce(d.credited_units, d.units) as units, d.first_seen_at, d.included_at
     from executions x join deposits d on d.id = x.deposit_id
     where x.exchange_id = $1 and x.leg = $2 and x.status in ('confirming', 'exchanging', 'verifying') and x.deposit_id < $3
       and x.rate_kind is null and x.release_status is distinct from 'refunding'
       and d.asset_id = $4 and d.block_height is not null and d.status <> 'rejected'
     order by coalesce(d.credited_units, d.units) desc limit ${EARLIER_MAX}`,
    [exchangeId, leg, depositId, assetId],
    'earlier-deposits',
  )
  return rows.map((row) => ({
    depositUnits: BigInt(row.units),
    seenAt: row.first_seen_at,
    includedAt: row.included_at,
  }))
}

/** A check that is due up to a second earlier stays: the sweep has just leased it for the same time. */
async function save(sql: Sql, id: string, { status, reason, nextCheckAt, next }: ExchangeChange): Promise<void> {
  await sql.query(
    `with old as (select status, reason from exchanges where id = $1), changed as (
       update exchanges set status = $2, reason = $3, stepped_to = $5 where id = $1
         and (status, reason, stepped_to) is distinct from ($2, $3, $5::bigint) returning id
     ), scheduled as (
       insert into exchange_checks as c (exchange_id, next_check_at) select $1, $4 where $4::timestamptz is not null
       on conflict (exchange_id) do update set next_check_at = excluded.next_check_at
         where c.next_check_at not between excluded.next_check_at - interval '1 second' and excluded.next_check_at
     ), closed as (
       delete from exchange_checks where exchange_id = $1 and $4::timestamptz is null
     )
     insert into events (exchange_id, event, status, reason)
     select changed.id, 'status', $2, $3 from changed, old where old.status <> $2`,
    [id, status, reason, nextCheckAt, next?.depositId ?? null],
    'save-step',
  )
}

/** The lock of the exchange, which its step holds, makes the count unique. */
async function addTarget(
  sql: Sql,
  { exchangeId, leg, network, destination, keyIndex, sourceId }: DepositTarget,
): Promise<void> {
  await sql.query(
    `insert into deposit_targets (exchange_id, leg, nth, network, address, memo, key_index, source_execution)
     select $1, $2, count(*), $3, $4, $5, $6, $7 from deposit_targets where exchange_id = $1 and leg = $2`,
    [exchangeId, leg, network, destination.address, destination.memo ?? '', keyIndex, sourceId],
  )
}

/** The payees of an exchange whose codes are valid. A payee that was not named has none, and is never paid. */
function authenticPayees(
  { id, legs, recipient, refund }: Exchange,
  { recipient_mac, refund_mac }: ExchangeStepRow,
  macs: PayeeMacs,
): StepContext['authentic'] {
  const [first, last] = [legs[0], legs.at(-1)]
  return {
    recipient: recipient !== null && macs.isValid(recipientPayee(id, last?.to.id ?? '', recipient), recipient_mac),
    refund: refund !== null && macs.isValid(refundPayee(id, first?.from.network ?? '', refund), refund_mac),
  }
}

/** Saves the given fields of an execution and adds an event. Absent fields keep their value. */
async function saveExecution(
  sql: Sql,
  exchangeId: string,
  change: ExecutionChange,
  event: string,
  detail: Record<string, unknown> = {},
): Promise<void> {
  const has = (field: keyof ExecutionChange) => field in change
  await sql.query(
    `with changed as (
       update executions set status = $2, reason = $3,
         received_units = case when $4 then $5::numeric else received_units end,
         due_units = case when $6 then $7::numeric else due_units end,
         rate_kind = case when $8 then $9::text else rate_kind end,
         order_id = case when $10 then $11::text else order_id end,
         sent_units = case when $12 then $13::numeric else sent_units end,
         payout_hash = case when $14 then $15::text else payout_hash end,
         decision = case when $16 then $17::text else decision end,
         release_status = case when $21 then $22::text else release_status end,
         release_reason = case when $21 then $23::text else release_reason end,
         waits_since = case when $24 then $25::timestamptz else waits_since end,
         ordered_units = case when $26 then $27::numeric else ordered_units end
       where id = $1 returning id)
     insert into events (exchange_id, execution_id, event, status, reason, detail)
     select $18, changed.id, $19, $2, $3, $20 from changed`,
    [
      change.id,
      change.status,
      change.reason,
      has('receivedUnits'),
      change.receivedUnits ?? null,
      has('dueUnits'),
      change.dueUnits ?? null,
      has('rateKind'),
      change.rateKind ?? null,
      has('orderId'),
      change.orderId ?? null,
      has('sentUnits'),
      change.sentUnits ?? null,
      has('payoutHash'),
      change.payoutHash ?? null,
      has('decision'),
      change.decision ?? null,
      exchangeId,
      event,
      JSON.stringify(detail),
      has('onRelease'),
      change.onRelease?.status ?? null,
      change.onRelease?.reason ?? null,
      has('waitsSince'),
      change.waitsSince ?? null,
      has('orderedUnits'),
      change.orderedUnits ?? null,
    ],
    'save-execution',
  )
}
