import { hasRow, type Tx } from '../core/database.ts'
import { release } from './inventory.ts'

/**
 * Cancels an exchange for which nothing was seen. The lock also excludes the inserts that refer to the exchange: a deposit or a
 * sighting is either committed before, and found here, or waits until the exchange is cancelled, and is refunded.
 */
export async function cancelExchange(tx: Tx, id: string): Promise<'cancelled' | 'seen'> {
  const [row] = await tx.query<{ status: string; is_cancelled: boolean }>(
    'select status, cancelled_at is not null as is_cancelled from exchanges where id = $1 for update',
    [id],
  )
  if (row?.is_cancelled) return 'cancelled'
  if (row?.status !== 'pending' || (await isSeen(tx, id))) return 'seen'
  await tx.query(
    `update exchanges set status = 'failed', reason = 'CANCELLED', cancelled_at = clock_timestamp() where id = $1`,
    [id],
  )
  await tx.query('delete from exchange_checks where exchange_id = $1', [id])
  await tx.query(
    `insert into events (exchange_id, event, status, reason) values ($1, 'cancelled', 'failed', 'CANCELLED')`,
    [id],
  )
  await keepShare(tx, id)
  await release(tx, `hold:${id}`)
  return 'cancelled'
}

/** A sighting that ended without a block does not count: no node has that payment any more. */
export const isSeen = (tx: Tx, id: string): Promise<boolean> =>
  hasRow(
    tx,
    `select 1 where exists (select 1 from deposits where exchange_id = $1)
       or exists (select 1 from sightings where exchange_id = $1 and gone_at is null)`,
    [id],
  )

/**
 * The promise counts against the partner's share until it would have ended: otherwise a partner could order again at each new
 * price, and would have a fresh option all day.
 */
async function keepShare(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `insert into cancelled_promises (exchange_id, asset_id, partner_id, units, until)
     select exchange_id, asset_id, partner_id, units, expires_at from reservations
     where id = 'hold:' || $1 and partner_id is not null and expires_at > clock_timestamp()`,
    [id],
  )
}
