import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import type { Sql } from '../core/database.ts'

const ALARM = 'a second output was paid to a one-time key of ours: only one of the two can be spent'

/**
 * Another transaction with the same identity: two Monero outputs with one key, only one of them can be spent (D41). The wallet
 * program keeps the larger. If that is not the recorded one, no payout spends it until an operator releases it: what it brings
 * in addition is in no account before (`LARGER_OUTPUT`).
 */
export async function reportDuplicates(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  confirmations: number,
  duplicates: readonly Transfer[],
): Promise<void> {
  for (const transfer of duplicates) {
    const { identity, txHash, units } = transfer
    const [larger] = await sql.query<{ outpoint: string }>(
      `update coins c set quarantined = true from deposits d
       where d.network = $1 and d.identity = $2 and d.units < $3 and c.network = $1 and c.deposit_id = d.id and c.spent_by is null
       returning c.outpoint`,
      [network, identity, units],
    )
    if (larger) await recordSurplus(sql, network, block, confirmations, transfer)
    const next = larger && {
      quarantined: larger.outpoint,
      next: `swapyard payouts release-input ${network} <outpoint>`,
    }
    await sql.query(
      `insert into alarms (subject, alarm, detail) values ($1, $2, $3)
       on conflict (subject) do update set seen_at = clock_timestamp()`,
      [`burnt:${network}:${txHash}:${identity}`, ALARM, JSON.stringify({ txHash, units: units.toString(), ...next })],
    )
  }
}

/**
 * A row with what the larger output has in addition. It is not credited, because the wallet can still pay with the recorded one;
 * the release of the output credits it. A surplus that was reversed waits for another release.
 */
async function recordSurplus(
  sql: Sql,
  network: string,
  { height, hash }: ScannedBlock,
  confirmations: number,
  { identity, txHash, units, lockConfirmations = 0 }: Transfer,
): Promise<void> {
  await sql.query(
    `insert into deposits as s (network, identity, tx_hash, address, memo, key_index, asset_id, units, block_height, block_hash,
       required_confirmations, unclaimed, status)
     select d.network, d.identity || ':' || $3::text, $3, d.address, d.memo, d.key_index, d.asset_id, $4::numeric - d.units, $5, $6, $7, true, 'rejected'
     from deposits d where d.network = $1 and d.identity = $2
     on conflict (network, identity) do update set block_height = excluded.block_height, block_hash = excluded.block_hash,
       orphaned_at = null, unclaimed = s.unclaimed or s.status = 'reversed',
       status = case when s.status = 'reversed' then 'rejected' else s.status end`,
    [network, identity, txHash, units, height, hash, Math.max(confirmations, lockConfirmations)],
  )
}
