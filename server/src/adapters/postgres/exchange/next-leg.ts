import type { Transfer } from '../../../exchange/ports/chain.ts'
import type { Sql } from '../core/database.ts'

/** Identifies the transfer of our payout that funds a next leg. */
export const legKey = (txHash: string, address: string, assetId: string): string => `${txHash} ${address} ${assetId}`

/** The transfers of a block that fund a next leg. Only our rows decide: the target's payout and the attempt that pays it. */
export async function findLegTransfers(
  sql: Sql,
  targets: readonly { source_execution: string | null }[],
  attempts: readonly { tx_hash: string; transaction_id: string }[],
): Promise<ReadonlySet<string>> {
  const sources = targets.flatMap(({ source_execution }) => source_execution ?? [])
  if (sources.length === 0 || attempts.length === 0) return new Set()
  const rows = await sql.query<{ transaction_id: string; address: string; asset_id: string }>(
    `select p.transaction_id, p.address, p.asset_id from payouts p
     where p.purpose = 'payout' and p.execution_id = any($1::uuid[]) and p.transaction_id = any($2::uuid[])`,
    [sources, attempts.map(({ transaction_id }) => transaction_id)],
  )
  return new Set(
    rows.flatMap((row) =>
      attempts
        .filter(({ transaction_id }) => transaction_id === row.transaction_id)
        .map(({ tx_hash }) => legKey(tx_hash, row.address, row.asset_id)),
    ),
  )
}

/**
 * After the fee of a payment between legs was raised, a reorg may replace one attempt by another. It is the same payment, so
 * its deposit takes the new hash and identity; otherwise it would be converted and paid twice.
 */
export async function replaceDepositHash(
  sql: Sql,
  network: string,
  sourceExecution: string,
  { identity, txHash }: Transfer,
): Promise<void> {
  await sql.query(
    `with renamed as (
       update deposits d set identity = $3, chain_identity = null, tx_hash = $4 from executions x
       where x.source_execution = $2 and d.id = x.deposit_id and d.network = $1 and d.identity <> $3 and d.block_height is null
       returning d.id)
     update executions x set payin_hash = $4 from renamed where x.deposit_id = renamed.id`,
    [network, sourceExecution, identity, txHash],
  )
}
