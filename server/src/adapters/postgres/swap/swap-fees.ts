import type { SwapFeeStore, UnclaimedFee } from '../../../swap/ports/store/swap-fees.ts'
import { type Database, hasRow, type Sql } from '../core/database.ts'
import { insertUnreportedSwap } from './swaps.ts'

export function createSwapFeeStore(database: Database): SwapFeeStore {
  return {
    async readScannedHeight(network, first) {
      // The update changes nothing; it makes `returning` return the existing row.
      const [row] = await database.query<{ height: string }>(
        `insert into fee_searches as f (network, height) values ($1, $2)
         on conflict (network) do update set height = f.height returning height`,
        [network, first],
      )
      return row === undefined ? first : Number(row.height)
    },
    async findUnreported(network, hashes) {
      const rows = await database.query<{ hash: string }>(
        `select hash from unnest($2::text[]) as asked (hash)
         where not exists (select 1 from swaps s where s.network = $1 and s.hash = asked.hash)`,
        [network, hashes],
      )
      return new Set(rows.map(({ hash }) => hash))
    },
    saveScan: (network, { from, to }, { swaps, unclaimed, paidHashes }) =>
      database.transaction(async (tx) => {
        const moved = await tx.query(
          `update fee_searches set height = $3, searched_at = clock_timestamp()
           where network = $1 and height = $2 returning 1`,
          [network, from, to],
        )
        if (moved.length === 0) return false
        await tx.query(
          `update swaps set next_check_at = clock_timestamp()
           where network = $1 and hash = any($2) and status = 'failed' and next_check_at is null`,
          [network, paidHashes],
        )
        for (const swap of swaps) await insertUnreportedSwap(tx, swap)
        for (const fee of unclaimed) await insertUnclaimed(tx, fee)
        return true
      }),
    resetScan: (network, height) =>
      hasRow(database, 'update fee_searches set height = $2 where network = $1 and height > $2 returning 1', [
        network,
        height,
      ]),
    async listPartnerIds() {
      const rows = await database.query<{ id: string }>('select id from partners order by created_at, id')
      return rows.map(({ id }) => id)
    },
  }
}

/** A repeated scan finds the same fee again; the first row stays. */
async function insertUnclaimed(tx: Sql, fee: UnclaimedFee): Promise<void> {
  const { network, hash, logIndex, height, ref, sender, token, units, feeTo, executor } = fee
  await tx.query(
    `insert into unclaimed_fees (network, hash, log_index, block_height, ref, sender, token, units, fee_to, executor)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    [network, hash, logIndex, height, ref, sender, token, units, feeTo, executor],
  )
}
