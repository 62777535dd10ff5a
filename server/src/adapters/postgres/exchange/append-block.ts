import type { Job } from '../../../core/ports/jobs.ts'
import type { ScannedBlock } from '../../../exchange/ports/chain.ts'
import type { Sql } from '../core/database.ts'
import { createPauseStore } from '../core/pauses.ts'
import { schedule, wake } from '../core/wake.ts'
import { lockCursor } from './cursor.ts'
import { findLegTransfers } from './next-leg.ts'
import {
  isDeposit,
  isOwnTransaction,
  type Ours,
  type RecordRules,
  recordTransfers,
  type Target,
  targetKey,
  type WalletAddress,
} from './record-transfers.ts'

/**
 * Appends one block in the caller's transaction. It looks up the addresses, hashes and outpoints of the block by index, so
 * the cost depends on the block more than on the size of our tables (bench/results/2026-11-23-address-filter.md).
 */
export async function appendBlock(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: RecordRules,
): Promise<boolean> {
  const cursor = await lockCursor(sql, network)
  if (cursor?.height !== block.height - 1 || cursor.hash !== block.parentHash) return false
  const ours = await findOurs(sql, network, block)
  await schedule(sql, exchangesPaid(block, ours, rules))
  await includeAttempts(sql, network, block, ours)
  await reportIntrusions(sql, network, block, ours)
  const jobs = await recordTransfers(sql, network, block, rules, ours)
  // After the transfers: a block can create a UTXO and spend it.
  if (rules.tracksUtxos) await spendUtxos(sql, network, block, ours)
  await sql.query(
    `insert into blocks (network, height, hash, parent_hash) values ($1, $2, $3, $4)
     on conflict (network, height) do update set hash = excluded.hash, parent_hash = excluded.parent_hash`,
    [network, block.height, block.hash, block.parentHash],
    'save-block',
  )
  await sql.query(
    'delete from blocks where network = $1 and height < $2',
    [network, block.height - rules.keepBlocks],
    'delete-old-blocks',
  )
  await sql.query(
    `insert into cursors (network, height, hash) values ($1, $2, $3)
     on conflict (network) do update set height = excluded.height, hash = excluded.hash, scanned_at = clock_timestamp()`,
    [network, block.height, block.hash],
    'move-cursor',
  )
  await wake(sql, [...jobs, ...(await findDueJobs(sql, network, block.height))])
  return true
}

/** The exchanges that receive a deposit in this block. */
export function exchangesPaid(block: ScannedBlock, ours: Ours, rules: RecordRules): readonly string[] {
  return block.transfers.flatMap((transfer) => {
    const target = ours.targets.get(targetKey(transfer.address, transfer.memo))
    return target && rules.assetOf(transfer.contract) !== null && isDeposit(ours, rules, transfer, target)
      ? [target.exchange_id]
      : []
  })
}

export async function findOurs(sql: Sql, network: string, block: ScannedBlock): Promise<Ours> {
  const addresses = [
    ...new Set([
      ...block.transfers.map(({ address }) => address),
      ...block.transactions.flatMap(({ sender }) => (sender === null ? [] : [sender])),
    ]),
  ]
  const hashes = block.transactions.map(({ txHash }) => txHash)
  const targets =
    addresses.length === 0
      ? []
      : await sql.query<Target>(
          `select exchange_id, leg, address, memo, key_index, source_execution from deposit_targets
           where network = $1 and address = any($2::text[])`,
          [network, addresses],
          'find-targets',
        )
  const walletAddresses =
    addresses.length === 0
      ? []
      : await sql.query<WalletAddress>(
          'select address, branch, key_index from house_addresses where network = $1 and address = any($2::text[])',
          [network, addresses],
          'find-wallet-addresses',
        )
  const own =
    hashes.length === 0
      ? []
      : await sql.query<{ tx_hash: string; transaction_id: string | null }>(
          `select tx_hash, transaction_id from attempts where network = $1 and tx_hash = any($2::text[])
           union all select tx_hash, null from forgotten_payouts where network = $1 and tx_hash = any($2::text[])`,
          [network, hashes],
          'find-own-transactions',
        )
  const attempts = own.flatMap(({ tx_hash, transaction_id }) =>
    transaction_id === null ? [] : [{ tx_hash, transaction_id }],
  )
  return {
    targets: new Map(targets.map((row) => [targetKey(row.address, row.memo), row])),
    walletAddresses: new Map(walletAddresses.map((row) => [row.address, row])),
    attempts: new Map(attempts.map((row) => [row.tx_hash, row.transaction_id])),
    forgotten: new Set(own.filter(({ transaction_id }) => transaction_id === null).map(({ tx_hash }) => tx_hash)),
    legTransfers: await findLegTransfers(sql, targets, attempts),
  }
}

async function includeAttempts(sql: Sql, network: string, block: ScannedBlock, ours: Ours): Promise<void> {
  if (ours.attempts.size === 0) return
  await sql.query(
    'update attempts set block_height = $3, block_hash = $4 where network = $1 and tx_hash = any($2::text[])',
    [network, [...ours.attempts.keys()], block.height, block.hash],
    'include-attempts',
  )
}

export async function spendUtxos(sql: Sql, network: string, block: ScannedBlock, ours: Ours): Promise<void> {
  const spends = block.transactions.flatMap(({ txHash, spends }) => spends.map((outpoint) => ({ outpoint, txHash })))
  if (spends.length === 0) return
  const spent = await sql.query<{ outpoint: string; spent_by: string }>(
    `update coins c set spent_by = s.tx_hash, spent_height = $4
     from unnest($2::text[], $3::text[]) as s (outpoint, tx_hash) where c.network = $1 and c.outpoint = s.outpoint
     returning c.outpoint, c.spent_by`,
    [network, spends.map(({ outpoint }) => outpoint), spends.map(({ txHash }) => txHash), block.height],
    'spend-coins',
  )
  for (const { outpoint, spent_by } of spent.filter((row) => !isOwnTransaction(ours, row.spent_by))) {
    await freeze(sql, network, spent_by, { outpoint })
  }
}

/** A transaction that is signed by one of our keys and that no signer of ours released: someone else has the key (I-14). */
async function reportIntrusions(sql: Sql, network: string, block: ScannedBlock, ours: Ours): Promise<void> {
  const watched = new Set([...[...ours.targets.values()].map(({ address }) => address), ...ours.walletAddresses.keys()])
  for (const { txHash, sender, nonce } of block.transactions) {
    if (sender !== null && watched.has(sender) && !isOwnTransaction(ours, txHash))
      await freeze(sql, network, txHash, { sender, nonce })
  }
}

const INTRUSION = 'a transaction of our wallet that we did not sign'

async function freeze(sql: Sql, network: string, txHash: string, detail: Record<string, unknown>): Promise<void> {
  await sql.query(
    `insert into alarms (subject, alarm, detail) values ($1, $2, $3)
     on conflict (subject) do update set seen_at = clock_timestamp()`,
    [`intrusion:${network}:${txHash}`, INTRUSION, JSON.stringify({ ...detail, txHash })],
  )
  await createPauseStore(sql, true).ensurePaused(`payouts:${network}`, INTRUSION, 'watcher')
}

/** Exchanges whose deposits reached their confirmations with this block, and our transactions that are not final. */
async function findDueJobs(sql: Sql, network: string, height: number): Promise<readonly Job[]> {
  const exchanges = await sql.query<{ id: string }>(
    `select distinct exchange_id as id from deposits where network = $1 and status = 'seen' and exchange_id is not null
       and block_height + required_confirmations - 1 between $2 - 1 and $2`,
    [network, height],
    'due-exchanges',
  )
  const transactions = await sql.query<{ id: string }>(
    `select distinct a.transaction_id as id from attempts a join transactions t on t.id = a.transaction_id
     where a.network = $1 and a.block_height > $2 - 1000 and t.state = 'live'`,
    [network, height],
    'due-transactions',
  )
  return [
    ...exchanges.map(({ id }): Job => ({ kind: 'exchange', id })),
    ...transactions.map(({ id }): Job => ({ kind: 'transaction', id })),
  ]
}
