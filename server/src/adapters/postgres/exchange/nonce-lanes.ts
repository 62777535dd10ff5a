import type { TransactionStore } from '../../../exchange/ports/store/transactions.ts'
import { hasRow, type Sql } from '../core/database.ts'

const WAITING_LANES = `
select wallet, min(split_part(conflict_key, ':', 2)::bigint) as lowest from transactions
where network = $1 and state = 'live' and starts_with(conflict_key, wallet || ':')
group by wallet having min(created_at) < clock_timestamp() - $2::bigint * interval '1 millisecond'
order by wallet <> $4, min(created_at) limit $3`

/** Deposit addresses pay one payout per transaction. */
const UNMINED_UNITS = `
select coalesce(sum(a.fee_units + coalesce(p.units, 0)), 0) as units from transactions t
cross join lateral (select max(fee_units) as fee_units from attempts where transaction_id = t.id) a
left join payouts p on p.transaction_id = t.id and p.asset_id = $4
where t.network = $1 and t.wallet = $2 and t.state = 'live' and split_part(t.conflict_key, ':', 2)::bigint >= $3`

/** An expired transaction has its nonce too: it reverted, or another one that was mined took the nonce. */
const REOPEN_NONCE = `
update nonce_lanes l set gap = $3 where l.network = $1 and l.address = $2 and l.next > $3::bigint
  and not exists (select 1 from transactions t where t.network = $1 and t.conflict_key = $2 || ':' || $3::bigint)`

const GAPS = `
select address as wallet, gap from nonce_lanes where network = $1 and gap is not null and address > $2 order by address limit $3`

/** The nonces of wallets, and the lock that every signature takes (I-26). */
export function createLanes(
  sql: Sql,
): Pick<
  TransactionStore,
  'hasLane' | 'lockLane' | 'listWaitingLanes' | 'unminedUnits' | 'reopenNonce' | 'listGaps' | 'closeGap'
> {
  return {
    hasLane: (network, wallet) =>
      hasRow(sql, 'select 1 from nonce_lanes where network = $1 and address = $2', [network, wallet]),
    async lockLane(network, wallet, firstNonce) {
      await sql.query('insert into nonce_lanes (network, address, next) values ($1, $2, $3) on conflict do nothing', [
        network,
        wallet,
        firstNonce,
      ])
      const [row] = await sql.query<{ next: string }>(
        'select coalesce(gap, next) as next from nonce_lanes where network = $1 and address = $2 for update',
        [network, wallet],
      )
      return Number(row?.next ?? 0)
    },
    async listWaitingLanes(network, first, waitedMs, limit) {
      const rows = await sql.query<{ wallet: string; lowest: string }>(WAITING_LANES, [network, waitedMs, limit, first])
      return rows.map(({ wallet, lowest }) => ({ wallet, lowestNonce: Number(lowest) }))
    },
    async unminedUnits(network, wallet, minedNonce, native) {
      const [row] = await sql.query<{ units: string }>(UNMINED_UNITS, [network, wallet, minedNonce, native])
      return BigInt(row?.units ?? 0)
    },
    async reopenNonce(network, wallet, nonce) {
      // In a statement of its own: one that waits for the row sees the transactions as they were before it waited.
      await sql.query('select 1 from nonce_lanes where network = $1 and address = $2 for update', [network, wallet])
      await sql.query(REOPEN_NONCE, [network, wallet, nonce])
    },
    async listGaps(network, after, limit) {
      const rows = await sql.query<{ wallet: string; gap: string }>(GAPS, [network, after, limit])
      return rows.map(({ wallet, gap }) => ({ wallet, nonce: Number(gap) }))
    },
    async closeGap(network, wallet, nonce) {
      await sql.query('update nonce_lanes set gap = null where network = $1 and address = $2 and gap = $3', [
        network,
        wallet,
        nonce,
      ])
    },
  }
}
