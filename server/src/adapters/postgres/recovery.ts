import type { AssetId } from '../../domain/asset.ts'
import { accounts } from '../../domain/ledger/entries.ts'
import type { Need } from '../../ports/chain.ts'
import type { HeldPayout, OperatorStore, RecoveryStore } from '../../ports/recovery.ts'
import { type FundingRow, toFunding } from './custody.ts'
import type { Sql } from './database.ts'

/** Generations of coins that left the chain together: a proof further up would have shown itself before. */
const GENERATIONS_MAX = 10
/** Outputs that one proof looks at. */
const NEEDS_MAX = 200

export function createRecoveryStore(sql: Sql, locking: boolean): RecoveryStore {
  return {
    async origins(network, outpoints) {
      const rows = await sql.query<{ outpoint: string; spent_by: string }>(
        `with recursive gone (outpoint, made_from, generation) as (
           select outpoint, made_from, 1 from coins where network = $1 and outpoint = any($2::text[]) and block_height is null
           union
           select c.outpoint, c.made_from, g.generation + 1 from gone g
             join coins c on c.network = $1 and c.outpoint = any(g.made_from) and c.block_height is null
           where g.generation < $3)
         select distinct made.outpoint, split_part(g.outpoint, ':', 1) as spent_by
         from gone g cross join lateral unnest(g.made_from) as made (outpoint) order by spent_by, outpoint limit $4`,
        [network, outpoints, GENERATIONS_MAX, NEEDS_MAX],
      )
      return rows.map(({ outpoint, spent_by }): Need => ({ outpoint, spentBy: spent_by }))
    },
    async lostFundings(network, limit) {
      const rows = await sql.query<FundingRow>(
        `select * from deposits where network = $1 and exchange_id is null and status = 'credited' and block_height is null
         order by id limit $2${locking ? ' for no key update' : ''}`,
        [network, limit],
      )
      return rows.map(toFunding)
    },
    async shortfall(assetId) {
      const [row] = await sql.query<{ units: string }>(
        `select greatest(i.promised - coalesce((select b.units from balances b where b.account = $2 and b.asset_id = $1), 0), 0) as units
         from inventory i where i.asset_id = $1`,
        [assetId, accounts.wallet],
      )
      return BigInt(row?.units ?? 0)
    },
  }
}

type HeldRow = {
  id: string
  purpose: HeldPayout['purpose']
  network: string
  asset_id: AssetId
  units: string
  address: string
  state: HeldPayout['state']
  attention: string | null
  exchange_id: string | null
  transaction_id: string | null
}
const HELD =
  'select id, purpose, network, asset_id, units, address, state, attention, exchange_id, transaction_id from payouts'

export function createOperatorStore(sql: Sql, locking: boolean): OperatorStore {
  return {
    async record({ actor, act, subject, reason, detail }) {
      await sql.query('insert into operator_acts (actor, act, subject, reason, detail) values ($1, $2, $3, $4, $5)', [
        actor,
        act,
        subject,
        reason,
        JSON.stringify(detail),
      ])
    },
    async held(limit) {
      const rows = await sql.query<HeldRow>(
        `${HELD} where state = 'reserved' and attention is not null order by created_at, id limit $1`,
        [limit],
      )
      return rows.map(toHeld)
    },
    async findPayout(id) {
      const [row] = await sql.query<HeldRow>(`${HELD} where id::text = $1${locking ? ' for no key update' : ''}`, [id])
      return row ? toHeld(row) : null
    },
    async unsweep(payoutId) {
      await sql.query('update deposits set swept_by = null where swept_by = $1', [payoutId])
    },
    async nameRival(transactionId, rival) {
      const rows = await sql.query(
        "update transactions set rival = $2, next_check_at = clock_timestamp() where id::text = $1 and state = 'live' returning 1",
        [transactionId, rival],
      )
      return rows.length > 0
    },
    async findUnclaimed(depositId) {
      const [row] = await sql.query<{ id: string; asset_id: AssetId; credited_units: string }>(
        `select id, asset_id, credited_units from deposits
         where id::text = $1 and unclaimed and status = 'credited'${locking ? ' for no key update' : ''}`,
        [depositId],
      )
      return row ? { id: row.id, assetId: row.asset_id, units: BigInt(row.credited_units) } : null
    },
    async claim(depositId) {
      await sql.query('update deposits set unclaimed = false where id = $1', [depositId])
    },
  }
}

function toHeld(row: HeldRow): HeldPayout {
  return {
    id: row.id,
    purpose: row.purpose,
    network: row.network,
    assetId: row.asset_id,
    units: BigInt(row.units),
    address: row.address,
    state: row.state,
    attention: row.attention,
    exchangeId: row.exchange_id,
    transactionId: row.transaction_id,
  }
}
