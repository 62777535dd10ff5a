import type { PrivatePlan } from '../../../exchange/domain/private-plan.ts'
import { isUuid } from '../../../lib/id.ts'
import type { Sql } from '../core/database.ts'

/** Maximum events of one exchange: it usually has about twenty, more only after repeated failures. */
const EVENTS_MAX = 1_000

/** Everything that is stored about one exchange, including both ends of a private one: only for the operator. */
export type ExchangeDetails = Readonly<{
  exchange: Readonly<Record<string, unknown>>
  plan: PrivatePlan | null
  /** Deposit addresses, executions with their deposits, orders, payouts with their transactions, events. */
  parts: readonly Readonly<Record<string, unknown>>[]
}>

const PARTS = [
  `select 'address' as what, leg, network, address, memo, key_index from deposit_targets where exchange_id = $1 order by leg, nth`,
  `select 'execution' as what, e.leg, e.id, e.status, e.reason, e.decision, d.id as deposit, d.network, d.asset_id, d.units,
     e.received_units, e.due_units, e.rate_kind, e.release_status, e.waits_since, e.sent_units, e.payin_hash, e.payout_hash, e.created_at, e.updated_at
   from executions e join deposits d on d.id = e.deposit_id where e.exchange_id = $1 order by e.leg, e.created_at`,
  `select 'order' as what, e.leg, o.id, e.id as execution_id, o.venue, o.state, o.give_asset, o.give_units, o.take_asset,
     o.take_units, o.created_at
   from executions e join orders o on o.id = e.order_id where e.exchange_id = $1 order by e.leg, e.created_at`,
  `select 'payout' as what, p.leg, p.id, p.purpose, p.state, p.attention, p.network, p.asset_id, p.units, p.address, p.memo,
     p.held_until, p.created_at, p.transaction_id,
     (select json_agg(a.tx_hash order by a.created_at) from attempts a where a.transaction_id = p.transaction_id) as tx_hashes
   from payouts p where p.exchange_id = $1 order by p.created_at`,
  `select 'event' as what, at, execution_id, event, status, reason, detail from (
     select * from events where exchange_id = $1 order by id desc limit ${EVENTS_MAX}) e order by id`,
]

/** `by`: what has the address or the hash. */
type FoundExchange = Readonly<{ exchangeId: string; partner: string | null; status: string; by: string }>

const FOUND_MAX = 100
/** Each part reads an index of the networks that were ever watched. */
const FIND = `with found as (
    select exchange_id, 'deposit address' as by from deposit_targets where address = any($1)
    union select exchange_id, 'deposit' from deposits
      where network in (select network from cursors) and tx_hash = any($1) and exchange_id is not null
    union select exchange_id, 'unconfirmed deposit' from sightings
      where network in (select network from cursors) and tx_hash = any($1) and gone_at is null
    union select p.exchange_id, p.purpose from attempts a join payouts p on p.transaction_id = a.transaction_id
      where a.network in (select network from cursors) and a.tx_hash = any($1) and p.exchange_id is not null)
  select e.id as "exchangeId", p.name as partner, e.status, f.by from found f join exchanges e on e.id = f.exchange_id
    left join partners p on p.id = e.partner_id order by e.created_at desc, f.by limit ${FOUND_MAX}`

/** Exchanges by a deposit address or the hash of a transaction, in one of several encodings. The newest first. */
export const findExchanges = (sql: Sql, encodings: readonly string[]): Promise<readonly FoundExchange[]> =>
  sql.query<FoundExchange>(FIND, [encodings])

export async function readExchangeDetails(sql: Sql, id: string): Promise<ExchangeDetails | null> {
  if (!isUuid(id.toLowerCase())) return null
  const [row] = await sql.query<Record<string, unknown> & { plan: PrivatePlan | null }>(
    `select e.id, p.name as partner, e.type, e.flow, e.status, e.reason, e.legs, e.external_id, e.from_units, e.to_units, e.max_units, e.estimate,
       e.recipient_address, e.recipient_memo, e.refund_address, e.refund_memo, e.partner_fee_bps, e.quoted_gross_units,
       e.quoted_network_units, e.created_at, e.expires_at, e.fixed_until, e.plan
     from exchanges e left join partners p on p.id = e.partner_id where e.id = $1`,
    [id],
  )
  if (!row) return null
  const { plan, ...exchange } = row
  const parts: Record<string, unknown>[] = []
  for (const query of PARTS) parts.push(...(await sql.query<Record<string, unknown>>(query, [id])))
  return { exchange, plan, parts }
}
