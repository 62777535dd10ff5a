import type { AssetId } from '../../../core/domain/asset.ts'
import { accounts } from '../../../core/domain/ledger/entries.ts'
import type { InventoryStore } from '../../../exchange/ports/store/inventory.ts'
import type { Sql } from '../core/database.ts'

/** Reserves the units if the wallet covers them and all other reservations. Runs in the caller's transaction. */
export async function reserve(
  sql: Sql,
  id: string,
  assetId: AssetId,
  units: bigint,
  exchangeId: string,
  expiresInMs: number | null,
): Promise<boolean> {
  const [existing] = await sql.query('select 1 from reservations where id = $1', [id])
  if (existing) return true
  const [reserved] = await sql.query(
    `update inventory i set promised = i.promised + $2::numeric where i.asset_id = $1
       and coalesce((select b.units from balances b where b.account = $3 and b.asset_id = $1), 0) - i.promised >= $2::numeric
     returning 1`,
    [assetId, units, accounts.wallet],
  )
  if (!reserved) return false
  await sql.query(
    `insert into reservations (id, asset_id, units, exchange_id, expires_at)
     values ($1, $2, $3, $4, clock_timestamp() + $5::bigint * interval '1 millisecond')`,
    [id, assetId, units, exchangeId, expiresInMs],
  )
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

export function createInventoryStore(sql: Sql): InventoryStore {
  return {
    async available() {
      const rows = await sql.query<{ asset_id: AssetId; units: string }>(
        `select b.asset_id, b.units - coalesce(i.promised, 0) as units from balances b
         left join inventory i using (asset_id) where b.account = $1`,
        [accounts.wallet],
      )
      return new Map(rows.map((row) => [row.asset_id, BigInt(row.units) < 0n ? 0n : BigInt(row.units)]))
    },
    reserve: (id, assetId, units, exchangeId, expiresInMs) => reserve(sql, id, assetId, units, exchangeId, expiresInMs),
    release: (id) => release(sql, id),
    async keepHold(exchangeId) {
      await sql.query('update reservations set paid = true where id = $1 and not paid', [`hold:${exchangeId}`])
    },
    // The reservation of a fixed rate stays only while the exchange processes a deposit that can use it.
    async releaseExpired(limit) {
      const rows = await sql.query(
        `with released as (
           delete from reservations where id in (
             select r.id from reservations r where r.expires_at < statement_timestamp() and not (r.paid and exists (
               select 1 from exchanges e where e.id = r.exchange_id and e.status not in ('pending', 'finished', 'failed', 'refunded')))
             order by r.asset_id, r.id limit $1 for update of r skip locked)
           returning asset_id, units
         ), sums as (select asset_id, sum(units) as units from released group by asset_id)
         update inventory i set promised = i.promised - sums.units from sums where i.asset_id = sums.asset_id returning 1`,
        [limit],
      )
      return rows.length
    },
    async order(order) {
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
