import type { Tx } from '../core/database.ts'
import { schedule, wake } from '../core/wake.ts'
import { isSeen } from './cancel-exchange.ts'

/** Ends the time of an exchange for which nothing was seen, and of its fixed rate. The step then closes it as any expired one. */
export async function expireExchange(tx: Tx, id: string): Promise<Date | null> {
  const [row] = await tx.query<{ status: string }>('select status from exchanges where id = $1 for update', [id])
  if (row?.status !== 'pending' || (await isSeen(tx, id))) return null
  await keepAnswer(tx, id)
  // Blocks have times in whole seconds: a payment in the block of this second is late, too.
  const [expired] = await tx.query<{ expires_at: Date }>(
    `update exchanges set expires_at = n.ended_at, fixed_until = case when fixed_until > n.ended_at then n.ended_at else fixed_until end
     from (select date_trunc('second', clock_timestamp()) - interval '1 second' as ended_at) n
     where id = $1 returning expires_at`,
    [id],
  )
  await schedule(tx, [id])
  await wake(tx, [{ kind: 'exchange', id }])
  return expired?.expires_at ?? null
}

/** A repeat of the create has its first answer, which stated these times (I-21). */
async function keepAnswer(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `update idempotency_keys k set expires_at = e.expires_at, fixed_until = e.fixed_until
     from exchanges e where e.id = $1 and k.exchange_id = e.id and k.expires_at is null`,
    [id],
  )
}
