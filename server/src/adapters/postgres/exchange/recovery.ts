import { accounts } from '../../../core/domain/ledger/entries.ts'
import type { RequiredSpend } from '../../../exchange/ports/chain.ts'
import type { RecoveryStore, UnrecordedLeg } from '../../../exchange/ports/store/recovery.ts'
import type { Sql } from '../core/database.ts'
import { FUNDING_COLUMNS, type FundingRow, toFunding } from './wallets.ts'

/** Ancestors to follow. A conflict further up would have invalidated the nearer ones before. */
const GENERATIONS_MAX = 10
/** Maximum outputs that one proof checks. */
const NEEDS_MAX = 200

export function createRecoveryStore(sql: Sql, locking: boolean): RecoveryStore {
  return {
    async findAncestorSpends(network, outpoints) {
      const rows = await sql.query<{ outpoint: string; spent_by: string }>(
        `with recursive missing (outpoint, made_from, generation) as (
           select outpoint, made_from, 1 from coins where network = $1 and outpoint = any($2::text[]) and block_height is null
           union
           select c.outpoint, c.made_from, m.generation + 1 from missing m
             join coins c on c.network = $1 and c.outpoint = any(m.made_from) and c.block_height is null
           where m.generation < $3)
         select distinct made.outpoint, split_part(m.outpoint, ':', 1) as spent_by
         from missing m cross join lateral unnest(m.made_from) as made (outpoint) order by spent_by, outpoint limit $4`,
        [network, outpoints, GENERATIONS_MAX, NEEDS_MAX],
        'ancestor-spends',
      )
      return rows.map(({ outpoint, spent_by }): RequiredSpend => ({ outpoint, spentBy: spent_by }))
    },
    async findMissingOutputs(network, outpoints) {
      const rows = await sql.query<{ outpoint: string; gone_at: string }>(
        'select outpoint, gone_at from coins where network = $1 and outpoint = any($2::text[]) and block_height is null and gone_at is not null',
        [network, outpoints],
      )
      return rows.map(({ outpoint, gone_at }) => ({ outpoint, missingSince: Number(gone_at) }))
    },
    async listOrphanedFundings(network, limit) {
      const rows = await sql.query<FundingRow>(
        `select ${FUNDING_COLUMNS} from deposits d
         where d.network = $1 and d.exchange_id is null and d.status = 'credited' and d.block_height is null
         order by d.id limit $2${locking ? ' for no key update' : ''}`,
        [network, limit],
        locking ? 'lock-orphaned-fundings' : 'orphaned-fundings',
      )
      return rows.map(toFunding)
    },
    listUnrecordedLegs: (transactionId) =>
      sql.query<UnrecordedLeg>(
        `select p.execution_id as "executionId", p.exchange_id as "exchangeId" from payouts p
         join deposit_targets t on t.exchange_id = p.exchange_id and t.source_execution = p.execution_id
           and t.network = p.network and t.address = p.address and t.memo = p.memo
         where p.transaction_id = $1 and p.purpose = 'payout'
           and not exists (select 1 from executions n where n.source_execution = p.execution_id)`,
        [transactionId],
      ),
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
