import type { AssetId } from '../../../core/domain/asset.ts'
import type { FixedStock } from '../../../core/domain/book.ts'
import { accounts, ownAccounts } from '../../../core/domain/ledger/entries.ts'
import { fixedReserveLeft } from '../../../exchange/domain/fixed-reserve.ts'
import type { CapitalPosition, MaxNetworkFees } from '../../../exchange/domain/free-capital.ts'
import { TOLERANCE_PERCENT } from '../../../exchange/domain/terms.ts'
import type { NewExchange } from '../../../exchange/ports/store/exchanges.ts'
import type { InventoryStore } from '../../../exchange/ports/store/inventory.ts'
import { present } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import type { Sql } from '../core/database.ts'

/** `partnerId`: of an unpaid promise of a fixed rate. */
type NewReservation = Readonly<{
  id: string
  assetId: AssetId
  units: bigint
  exchangeId: string
  partnerId: string | null
  expiresInMs: number | null
}>

/**
 * Units of the asset `b.asset_id` that the wallet holds for others: balances of partners, unclaimed money, and withdrawals
 * that are not signed. They are no stock, although nothing of them is reserved.
 */
const OWED = `(select coalesce(-sum(o.units), 0) from balances o where o.asset_id = b.asset_id
    and (o.account = 'liability:unclaimed' or starts_with(o.account, 'liability:partner:')))
  + (select coalesce(sum(p.units), 0) from payouts p
     where p.asset_id = b.asset_id and p.purpose = 'withdrawal' and p.state = 'reserved')`

/** Units of the wallet that are neither reserved nor owed, by asset. $1 is the account of the wallet. */
const STOCK = `select b.asset_id, b.units - coalesce(i.promised, 0) - (${OWED}) as units
  from balances b left join inventory i using (asset_id) where b.account = $1`

/**
 * Locks the stock of these assets until the end of the transaction. In a statement of its own: a statement that waits for a
 * row sees the other rows as they were before it waited (M12).
 */
const lock = (sql: Sql, assetIds: readonly AssetId[]) =>
  sql.query('select 1 from inventory where asset_id = any($1::text[]) order by asset_id for update', [assetIds])

/** Locks the stock of an asset and returns it. Negative if more is promised or owed than the wallet holds. */
async function lockStock(sql: Sql, assetId: AssetId): Promise<bigint> {
  await lock(sql, [assetId])
  const [row] = await sql.query<{ units: string }>(`${STOCK} and b.asset_id = $2`, [accounts.wallet, assetId])
  return BigInt(row?.units ?? 0)
}

/** The caller has locked the stocks. */
async function insertReservations(sql: Sql, reservations: readonly NewReservation[]): Promise<void> {
  await sql.query(
    `with added as (
       insert into reservations (id, asset_id, units, exchange_id, partner_id, expires_at)
       select r.id, r.asset_id, r.units, r.exchange_id, r.partner_id, clock_timestamp() + r.expires_in_ms * interval '1 millisecond'
       from unnest($1::text[], $2::text[], $3::numeric[], $4::uuid[], $5::uuid[], $6::bigint[])
         as r (id, asset_id, units, exchange_id, partner_id, expires_in_ms)
       returning asset_id, units
     ), sums as (select asset_id, sum(units) as units from added group by asset_id)
     update inventory i set promised = i.promised + sums.units from sums where i.asset_id = sums.asset_id`,
    [
      reservations.map(({ id }) => id),
      reservations.map(({ assetId }) => assetId),
      reservations.map(({ units }) => units),
      reservations.map(({ exchangeId }) => exchangeId),
      reservations.map(({ partnerId }) => partnerId),
      reservations.map(({ expiresInMs }) => expiresInMs),
    ],
  )
}

/**
 * Reserves the units if the wallet covers them and all other reservations, or if a reservation that was released for them had as
 * many (`releasedUnits`). Runs in the caller's transaction.
 */
async function reserve(
  sql: Sql,
  id: string,
  assetId: AssetId,
  units: bigint,
  exchangeId: string,
  expiresInMs: number | null,
  releasedUnits: bigint,
): Promise<boolean> {
  const [existing] = await sql.query('select 1 from reservations where id = $1', [id])
  if (existing) return true
  const stockUnits = await lockStock(sql, assetId)
  if (units > releasedUnits && stockUnits < units) return false
  await insertReservations(sql, [{ id, assetId, units, exchangeId, partnerId: null, expiresInMs }])
  return true
}

/** The row of an exchange whose `toUnits` of `assetId` are to be reserved for `forMs`. */
export type FixedReservation = Readonly<{ row: NewExchange; assetId: AssetId; forMs: number }>

type UnitsByPartner = Record<string, string>
type FixedStockRow = { asset_id: AssetId; units: string; held: UnitsByPartner | null; cancelled: UnitsByPartner | null }
/** `cancelled`: promises that were cancelled and would not have ended yet. They reserve nothing, and count for their partner. */
type ReadStock = { availableUnits: bigint; held: Map<string, bigint>; cancelled: ReadonlyMap<string, bigint> }

/** The stock of these assets or of all, with the unpaid promises of fixed rates by partner. */
async function readFixedStock(sql: Sql, assetIds: readonly AssetId[] | null): Promise<Map<AssetId, ReadStock>> {
  const rows = await sql.query<FixedStockRow>(
    `select s.*, (select json_object_agg(h.partner_id, h.units::text) from (
       select r.partner_id, sum(r.units) as units from reservations r
       where r.asset_id = s.asset_id and r.partner_id is not null and not r.paid group by r.partner_id) h) as held,
       (select json_object_agg(h.partner_id, h.units::text) from (
       select c.partner_id, sum(c.units) as units from cancelled_promises c
       where c.asset_id = s.asset_id and c.until > statement_timestamp() group by c.partner_id) h) as cancelled
     from (${STOCK}) s${assetIds === null ? '' : ' where s.asset_id = any($2)'}`,
    [accounts.wallet, ...(assetIds === null ? [] : [assetIds])],
    assetIds === null ? 'fixed-stocks' : 'fixed-stocks-of',
  )
  return new Map(
    rows.map(({ asset_id, units, held, cancelled }) => [
      asset_id,
      { availableUnits: BigInt(units), held: toHeld(held ?? {}), cancelled: toHeld(cancelled ?? {}) },
    ]),
  )
}

/**
 * Reserves the units of fixed rates within the limits of unpaid promises, in the given order: a large one that is refused
 * leaves the stock to those after it. Returns the ids of the exchanges with a reservation. Locks each stock once.
 */
export async function reserveFixed(sql: Sql, requested: readonly FixedReservation[]): Promise<ReadonlySet<string>> {
  if (requested.length === 0) return new Set()
  const assetIds = [...new Set(requested.map(({ assetId }) => assetId))]
  await lock(sql, assetIds)
  const stocks = await readFixedStock(sql, assetIds)
  const reserved = requested.filter(({ row, assetId }) => {
    const stock = stocks.get(assetId)
    return stock !== undefined && takeFixed(stock, row)
  })
  if (reserved.length === 0) return new Set()
  await insertReservations(
    sql,
    reserved.map(({ row, assetId, forMs }) => ({
      id: `hold:${row.id}`,
      assetId,
      units: row.toUnits,
      exchangeId: row.id,
      partnerId: row.partnerId,
      expiresInMs: forMs,
    })),
  )
  return new Set(reserved.map(({ row }) => row.id))
}

/** Takes the units from the stock that was read, unless they exceed it or the limits of the partner. */
function takeFixed(
  stock: ReadStock,
  { partnerId, toUnits: units, fixedReservePercent, fixedPartnerPercent }: NewExchange,
): boolean {
  const heldUnits = sumOf(stock.held)
  const own = stock.held.get(partnerId) ?? 0n
  const heldByPartnerUnits = own + (stock.cancelled.get(partnerId) ?? 0n)
  const limits = { freeUnits: stock.availableUnits + heldUnits, heldUnits, heldByPartnerUnits }
  const shares = { reservePercent: fixedReservePercent, partnerPercent: fixedPartnerPercent }
  if (smallest(stock.availableUnits, fixedReserveLeft(limits, shares)) < units) return false
  stock.availableUnits -= units
  stock.held.set(partnerId, own + units)
  return true
}

/** Deletes the reservation and returns its units; 0 if it does not exist. */
export async function release(sql: Sql, id: string): Promise<bigint> {
  const [row] = await sql.query<{ units: string }>(
    `with released as (delete from reservations where id = $1 returning asset_id, units)
     update inventory i set promised = i.promised - released.units from released where i.asset_id = released.asset_id returning released.units`,
    [id],
  )
  return BigInt(row?.units ?? 0)
}

async function readHold(sql: Sql, exchangeId: string, locking: '' | ' for update'): Promise<bigint> {
  const query = `select units from reservations where id = $1${locking}`
  const [row] = await sql.query<{ units: string }>(query, [`hold:${exchangeId}`])
  return BigInt(row?.units ?? 0)
}

/** Units of an asset in the wallet that are neither reserved nor owed, whatever owes them. $3 is the account of the wallet. */
const free = (asset: '$1' | '$2') => `(select coalesce(sum(b.units), 0) from balances b
    where b.asset_id = ${asset}::text and (b.account = $3 or starts_with(b.account, 'liability:')))
  - (select coalesce(sum(i.promised), 0) from inventory i where i.asset_id = ${asset}::text)`

/** Payouts of the hot wallet that are not signed. A converted deposit counts by its order, a queued payout of it does not again. */
const QUEUED = `select p.asset_id, p.execution_id from payouts p
  where p.network = n.network and p.state = 'reserved' and p.branch = 'hot' and p.purpose not in ('split', 'consolidate')`
const CAPITAL = `
with n as (select split_part($2::text, '@', 2) as network),
 unsigned as (
   select r.asset_id from reservations r, n where split_part(r.asset_id, '@', 2) = n.network
   union all
   select q.asset_id from n cross join lateral (${QUEUED} and p.attention is null union all ${QUEUED} and p.attention is not null) q
   left join executions x on x.id = q.execution_id where not exists (select 1 from reservations r where r.id = x.order_id))
select ${free('$1')} as units, ${free('$2')} as "nativeUnits",
  (select coalesce(sum(b.units), 0) from balances b where b.account = $3 and b.asset_id = $1)
    - (select coalesce(sum(p.units), 0) from payouts p where p.asset_id = $1 and p.purpose = 'withdrawal' and p.state = 'reserved')
    as "heldUnits",
  (select count(*) from unsigned where asset_id = $2) as "nativePayouts",
  (select count(*) from unsigned where asset_id <> $2) as "tokenPayouts",
  (select coalesce(sum(f.units), 0) from (select max(a.fee_units) as units from transactions t join attempts a on a.transaction_id = t.id
     where t.network = n.network and t.branch <> 'deposit' and t.state = 'live' group by t.id) f) as "unpaidFeeUnits",
  (select coalesce(sum(least(c.units, $4::numeric)), 0) from coins c where c.network = n.network and c.reserved_by is null
     and c.spent_by is null and not c.quarantined and c.block_height is not null) as "inputFeeUnits"
from n`

async function readCapital(sql: Sql, assetId: AssetId, fees: MaxNetworkFees): Promise<CapitalPosition> {
  await lock(sql, [assetId, fees.native])
  const [row] = await sql.query<Readonly<Record<keyof CapitalPosition, string>>>(CAPITAL, [
    ...[assetId, fees.native, accounts.wallet, fees.inputUnits],
  ])
  const { heldUnits, units, nativeUnits, nativePayouts, tokenPayouts, unpaidFeeUnits, inputFeeUnits } = present(
    row,
    'a row',
  )
  return {
    heldUnits: BigInt(heldUnits),
    units: BigInt(units),
    nativeUnits: BigInt(nativeUnits),
    nativePayouts: BigInt(nativePayouts),
    tokenPayouts: BigInt(tokenPayouts),
    unpaidFeeUnits: BigInt(unpaidFeeUnits),
    inputFeeUnits: BigInt(inputFeeUnits),
  }
}

/**
 * Whether the fixed rate of exchange `e` is owed to a deposit in a recorded block that is not converted and not on its way to a
 * refund. Terminal statuses of the exchange do not end the rate, except those of `hasEnded`: a refunded deposit uses nothing up
 * (M18). The conditions of `isInTime` and `coversQuote`.
 */
const IS_OWED = `e.status <> 'finished' and (e.status, e.reason) is distinct from ('failed', 'OPERATOR')
  and exists (select 1 from executions x join deposits d on d.id = x.deposit_id where x.exchange_id = e.id and x.leg = 0
    and x.status in ('pending', 'confirming', 'exchanging', 'verifying') and x.rate_kind is null
    and (x.status, x.release_status) is distinct from ('verifying', 'refunding')
    and d.block_height is not null and d.status <> 'rejected'
    and d.asset_id = e.from_currency || '@' || e.from_network and d.units * 100 >= e.from_units * ${100n - TOLERANCE_PERCENT} and d.first_seen_at <= e.fixed_until
    and d.included_at <= greatest(e.fixed_until, d.first_seen_at + e.fixed_inclusion_ms * interval '1 millisecond'))`

/** What is owed already has a liability: an order of a payout is not counted again, only the promise of a fixed rate. */
const OVERPROMISED = `
with own as (select asset_id, -sum(units) as units from balances where account = any($1::text[]) group by asset_id),
 promises as (select asset_id, sum(units) as units from reservations where starts_with(id, 'hold:') group by asset_id)
select asset_id, coalesce(p.units, 0) - coalesce(o.units, 0) as missing from own o full join promises p using (asset_id)
where coalesce(p.units, 0) > coalesce(o.units, 0) order by asset_id`

export function createInventoryStore(sql: Sql): InventoryStore {
  return {
    async listOverpromised() {
      const rows = await sql.query<{ asset_id: AssetId; missing: string }>(OVERPROMISED, [ownAccounts])
      return rows.map(({ asset_id, missing }) => ({ assetId: asset_id, missingUnits: BigInt(missing) }))
    },
    async available() {
      const rows = await sql.query<{ asset_id: AssetId; units: string }>(STOCK, [accounts.wallet], 'stock')
      return new Map(rows.map((row) => [row.asset_id, BigInt(row.units) < 0n ? 0n : BigInt(row.units)]))
    },
    async fixedStock() {
      const stocks = await readFixedStock(sql, null)
      return new Map([...stocks].map(([assetId, stock]) => [assetId, toFixedStock(stock)]))
    },
    covers: async (assetId, units) => (await lockStock(sql, assetId)) >= units,
    reservedUnits: (exchangeId) => readHold(sql, exchangeId, ''),
    lockReservedUnits: (exchangeId) => readHold(sql, exchangeId, ' for update'),
    capital: (assetId, fees) => readCapital(sql, assetId, fees),
    reserve: (id, assetId, units, exchangeId, expiresInMs, releasedUnits = 0n) =>
      reserve(sql, id, assetId, units, exchangeId, expiresInMs, releasedUnits),
    release: (id) => release(sql, id),
    async markReservationPaid(exchangeId) {
      await sql.query('update reservations set paid = true where id = $1 and not paid', [`hold:${exchangeId}`])
    },
    // The reservation of a fixed rate stays while the watcher may still find a deposit that came in time, and while the
    // rate is owed to one.
    async releaseExpired(limit) {
      await sql.query('delete from cancelled_promises where until < statement_timestamp()')
      const rows = await sql.query(
        `with released as (
           delete from reservations where id in (
             select r.id from reservations r where r.expires_at < statement_timestamp()
               and not exists (select 1 from exchanges e left join cursors k on k.network = e.from_network where e.id = r.exchange_id
                 and (k.caught_up_at < r.expires_at and e.expires_at > statement_timestamp() or ${IS_OWED}))
             order by r.asset_id, r.id limit $1 for update of r skip locked)
           returning asset_id, units
         ), sums as (select asset_id, sum(units) as units from released group by asset_id)
         update inventory i set promised = i.promised - sums.units from sums where i.asset_id = sums.asset_id returning 1`,
        [limit],
      )
      return rows.length
    },
    async insertOrder(order) {
      await sql.query(
        `insert into orders (id, execution_id, venue, give_asset, give_units, take_asset, take_units)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`,
        [order.id, order.executionId, order.venue, order.giveAsset, order.giveUnits, order.takeAsset, order.takeUnits],
      )
    },
    async settleOrder(id, state) {
      await sql.query('update orders set state = $2 where id = $1', [id, state])
    },
  }
}

const toHeld = (held: Readonly<Record<string, string>>) =>
  new Map(Object.entries(held).map(([partnerId, units]) => [partnerId, BigInt(units)]))

const sumOf = (held: ReadonlyMap<string, bigint>): bigint => [...held.values()].reduce((sum, units) => sum + units, 0n)

function toFixedStock({ availableUnits, held, cancelled }: ReadStock): FixedStock {
  const heldUnits = sumOf(held)
  const heldByPartner = new Map(held)
  for (const [partnerId, units] of cancelled) heldByPartner.set(partnerId, (held.get(partnerId) ?? 0n) + units)
  return { freeUnits: largest(availableUnits + heldUnits, 0n), heldUnits, heldByPartner }
}
