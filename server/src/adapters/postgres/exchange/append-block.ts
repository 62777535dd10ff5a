import type { Job } from '../../../core/ports/jobs.ts'
import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import type { AppendRules } from '../../../exchange/ports/store/chain-log.ts'
import { timeOrderedId } from '../../../lib/id.ts'
import type { Sql } from '../core/database.ts'
import { LOCK_PAUSES } from '../core/pauses.ts'
import { schedule, wake } from '../core/wake.ts'
import { findLegTransfers, legKey, replaceDepositHash } from './next-leg.ts'

type Target = {
  exchange_id: string
  leg: number
  address: string
  memo: string
  key_index: string
  source_execution: string | null
}
/** A hot wallet or change address. */
type WalletAddress = { address: string; branch: 'hot' | 'change'; key_index: string }
/** Our rows that a block touches. `legTransfers`: our payouts that fund a next leg, by `legKey`. */
type Ours = Readonly<{
  targets: Map<string, Target>
  walletAddresses: Map<string, WalletAddress>
  attempts: Map<string, string>
  legTransfers: ReadonlySet<string>
}>
type OwnTransfer = Readonly<{ transfer: Transfer; target: Target | null; walletAddress: WalletAddress | null }>

const targetKey = (address: string, memo: string | null) => `${address} ${memo ?? ''}`

/**
 * Appends one block in the caller's transaction. It looks up the addresses, hashes and outpoints of the block by index, so
 * the cost depends on the block more than on the size of our tables (bench/results/2026-11-23-address-filter.md).
 */
export async function appendBlock(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: AppendRules,
): Promise<boolean> {
  const [cursor] = await sql.query<{ height: string; hash: string }>(
    'select height, hash from cursors where network = $1 for update',
    [network],
  )
  if (!cursor || Number(cursor.height) !== block.height - 1 || cursor.hash !== block.parentHash) return false
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
  )
  await sql.query('delete from blocks where network = $1 and height < $2', [network, block.height - rules.keepBlocks])
  await sql.query(
    `insert into cursors (network, height, hash) values ($1, $2, $3)
     on conflict (network) do update set height = excluded.height, hash = excluded.hash, scanned_at = clock_timestamp()`,
    [network, block.height, block.hash],
  )
  await wake(sql, [...jobs, ...(await findDueJobs(sql, network, block.height))])
  return true
}

/** The exchanges that receive a deposit in this block. */
function exchangesPaid(block: ScannedBlock, ours: Ours, rules: AppendRules): readonly string[] {
  return block.transfers.flatMap((transfer) => {
    const target = ours.targets.get(targetKey(transfer.address, transfer.memo))
    return target && isDeposit(ours, rules, transfer, target) ? [target.exchange_id] : []
  })
}

/**
 * The customer pays the first leg: a transfer in one of our own transactions is change, a sweep or gas. Our payout of the
 * leg before pays a later leg; our stored transaction identifies it, not the data of the chain.
 */
function isDeposit({ attempts, legTransfers }: Ours, rules: AppendRules, transfer: Transfer, { leg }: Target): boolean {
  if (leg === 0) return !attempts.has(transfer.txHash)
  return legTransfers.has(legKey(transfer.txHash, transfer.address, rules.assetOf(transfer.contract)?.id ?? ''))
}

async function findOurs(sql: Sql, network: string, block: ScannedBlock): Promise<Ours> {
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
  const attempts =
    hashes.length === 0
      ? []
      : await sql.query<{ tx_hash: string; transaction_id: string }>(
          'select tx_hash, transaction_id from attempts where network = $1 and tx_hash = any($2::text[])',
          [network, hashes],
          'find-attempts',
        )
  return {
    targets: new Map(targets.map((row) => [targetKey(row.address, row.memo), row])),
    walletAddresses: new Map(walletAddresses.map((row) => [row.address, row])),
    attempts: new Map(attempts.map((row) => [row.tx_hash, row.transaction_id])),
    legTransfers: await findLegTransfers(sql, targets, attempts),
  }
}

async function includeAttempts(sql: Sql, network: string, block: ScannedBlock, ours: Ours): Promise<void> {
  if (ours.attempts.size === 0) return
  await sql.query(
    'update attempts set block_height = $3, block_hash = $4 where network = $1 and tx_hash = any($2::text[])',
    [network, [...ours.attempts.keys()], block.height, block.hash],
  )
}

async function spendUtxos(sql: Sql, network: string, block: ScannedBlock, ours: Ours): Promise<void> {
  const spends = block.transactions.flatMap(({ txHash, spends }) => spends.map((outpoint) => ({ outpoint, txHash })))
  if (spends.length === 0) return
  const spent = await sql.query<{ outpoint: string; spent_by: string }>(
    `update coins c set spent_by = s.tx_hash, spent_height = $4
     from unnest($2::text[], $3::text[]) as s (outpoint, tx_hash) where c.network = $1 and c.outpoint = s.outpoint
     returning c.outpoint, c.spent_by`,
    [network, spends.map(({ outpoint }) => outpoint), spends.map(({ txHash }) => txHash), block.height],
  )
  for (const { outpoint, spent_by } of spent.filter((row) => !ours.attempts.has(row.spent_by))) {
    await freeze(sql, network, spent_by, { outpoint })
  }
}

/** A transaction that is signed by one of our keys and not stored here: someone else has the key (I-14). */
async function reportIntrusions(sql: Sql, network: string, block: ScannedBlock, ours: Ours): Promise<void> {
  const watched = new Set([...[...ours.targets.values()].map(({ address }) => address), ...ours.walletAddresses.keys()])
  for (const { txHash, sender, nonce } of block.transactions) {
    if (sender !== null && watched.has(sender) && !ours.attempts.has(txHash))
      await freeze(sql, network, txHash, { sender, nonce })
  }
}

async function freeze(sql: Sql, network: string, txHash: string, detail: Record<string, unknown>): Promise<void> {
  await sql.query(
    `insert into alarms (subject, alarm, detail) values ($1, 'a transaction of our wallet that we did not sign', $2)
     on conflict (subject) do update set seen_at = clock_timestamp()`,
    [`intrusion:${network}:${txHash}`, JSON.stringify({ ...detail, txHash })],
  )
  await sql.query(LOCK_PAUSES)
  await sql.query(
    "insert into pauses (scope, reason, actor) values ($1, 'a transaction of our wallet that we did not sign', 'watcher') on conflict (scope) do nothing",
    [`payouts:${network}`],
  )
}

async function recordTransfers(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: AppendRules,
  ours: Ours,
): Promise<readonly Job[]> {
  const jobs: Job[] = [...ours.attempts.values()].map((id) => ({ kind: 'transaction', id }))
  for (const transfer of block.transfers) {
    const target = ours.targets.get(targetKey(transfer.address, transfer.memo)) ?? null
    const walletAddress = ours.walletAddresses.get(transfer.address) ?? null
    if (target === null && walletAddress === null) continue
    const ownTransfer = { transfer, target, walletAddress }
    const isOurPayment = ours.attempts.has(transfer.txHash)
    const isPayin = target === null ? !isOurPayment : isDeposit(ours, rules, transfer, target)
    // The address of a later leg is never shown: a payment by anyone else belongs to no exchange.
    const isStray = target !== null && target.leg > 0 && !isOurPayment
    const depositId = isPayin || isStray ? await recordDeposit(sql, network, block, rules, ownTransfer, isStray) : null
    if (depositId === 'duplicate') continue
    if (rules.tracksUtxos && transfer.contract === null)
      await recordUtxo(sql, network, block, rules, ownTransfer, depositId)
    if (isPayin && target) jobs.push({ kind: 'exchange', id: target.exchange_id })
  }
  return jobs
}

/**
 * Inserts one row per transfer, by its identity, or updates its block after a reorg. A reorg may also change the identity,
 * which makes a new row: it takes the time when its transaction was first seen. The required confirmations of a row never
 * fall. A deposit that was reversed or rejected in one block is checked again in the next.
 */
async function recordDeposit(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: AppendRules,
  { transfer, target, walletAddress }: OwnTransfer,
  isStray: boolean,
): Promise<string | 'duplicate'> {
  const asset = isStray ? null : rules.assetOf(transfer.contract)
  const required =
    target?.leg === 0
      ? rules.requirements(asset?.id ?? null, transfer.units)
      : { confirmations: rules.fundingConfirmations, tag: null }
  // Our payment to ourselves is one deposit, whichever of its attempts confirms.
  if (target?.source_execution && !isStray) await replaceDepositHash(sql, network, target.source_execution, transfer)
  const [row] = await sql.query<{ id: string }>(
    `insert into deposits as d (network, identity, tx_hash, exchange_id, leg, address, memo, key_index, asset_id, contract, units, sender,
       block_height, block_hash, required_confirmations, required_tag, unclaimed, status, first_seen_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
       least(clock_timestamp(),
         (select min(s.first_seen_at) from sightings s where s.network = $1 and s.tx_hash = $3 and s.exchange_id = $4),
         (select min(o.first_seen_at) from deposits o where o.network = $1 and o.tx_hash = $3 and o.exchange_id = $4)))
     on conflict (network, identity) do update set block_height = excluded.block_height, block_hash = excluded.block_hash, orphaned_at = null, required_confirmations = greatest(d.required_confirmations, $19),
       status = case when d.status = 'reversed' or (d.status = 'rejected' and d.asset_id is not null) then 'seen' else d.status end
       where d.tx_hash = excluded.tx_hash
     returning id`,
    [
      network,
      transfer.identity,
      transfer.txHash,
      target?.exchange_id ?? null,
      target?.leg ?? null,
      transfer.address,
      transfer.memo ?? '',
      target?.key_index ?? walletAddress?.key_index ?? null,
      asset?.id ?? null,
      transfer.contract,
      transfer.units,
      transfer.sender,
      block.height,
      block.hash,
      Math.max(required.confirmations, transfer.lockConfirmations ?? 0),
      required.tag,
      target === null && rules.usesMemos,
      asset ? 'seen' : 'rejected',
      transfer.lockConfirmations ?? 0,
    ],
  )
  if (!row) return alarmDuplicate(sql, network, transfer)
  const { id } = row
  if (target && asset) await openExecution(sql, target, id, transfer, { assetId: asset.id, height: block.height })
  if (!asset) {
    await sql.query(
      `insert into alarms (subject, alarm, detail) values ($1, $2, $3)
       on conflict (subject) do update set seen_at = clock_timestamp()`,
      [
        `stray:${network}:${transfer.identity}`,
        isStray
          ? 'someone paid an internal address that is never shown'
          : 'an unlisted token arrived at an address of ours',
        JSON.stringify({ contract: transfer.contract, exchangeId: target?.exchange_id ?? null }),
      ],
    )
  }
  await sql.query(
    'update sightings set gone_at = clock_timestamp() where network = $1 and tx_hash = $2 and gone_at is null',
    [network, transfer.txHash],
  )
  return id
}

/** Another transaction with the same identity: two Monero outputs with one key, only one of them can be spent (D41). */
async function alarmDuplicate(sql: Sql, network: string, { identity, txHash, units }: Transfer): Promise<'duplicate'> {
  await sql.query(
    `insert into alarms (subject, alarm, detail) values ($1, 'a second output was paid to a one-time key of ours: only one of the two can be spent', $2)
     on conflict (subject) do update set seen_at = clock_timestamp()`,
    [`burnt:${network}:${txHash}:${identity}`, JSON.stringify({ txHash, units: units.toString() })],
  )
  return 'duplicate'
}

async function openExecution(
  sql: Sql,
  target: Target,
  depositId: string,
  { txHash, units }: Transfer,
  where: { assetId: string; height: number },
): Promise<void> {
  await sql.query(
    `with opened as (
       insert into executions (id, exchange_id, deposit_id, leg, payin_hash, source_execution) values ($1, $2, $3, $4, $5, $7)
       on conflict do nothing returning id)
     insert into events (exchange_id, execution_id, event, status, detail)
     select $2, id, 'deposit seen', 'confirming', $6 from opened`,
    [
      timeOrderedId(),
      target.exchange_id,
      depositId,
      target.leg,
      txHash,
      JSON.stringify({ txHash, units: units.toString(), ...where }),
      target.source_execution,
    ],
  )
}

async function recordUtxo(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: AppendRules,
  { transfer, target, walletAddress }: OwnTransfer,
  depositId: string | null,
): Promise<void> {
  const branch = target ? 'deposit' : (walletAddress?.branch ?? 'hot')
  const keyIndex = target?.key_index ?? walletAddress?.key_index ?? '0'
  await sql.query(
    `insert into coins (network, outpoint, address, branch, key_index, units, block_height, block_hash, deposit_id, made_from)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (network, outpoint) do update set block_height = excluded.block_height, block_hash = excluded.block_hash, gone_at = null`,
    [
      network,
      rules.outpoint?.(transfer, { branch, index: Number(keyIndex) }) ?? transfer.identity,
      transfer.address,
      branch,
      keyIndex,
      transfer.units,
      block.height,
      block.hash,
      depositId,
      block.transactions.find(({ txHash }) => txHash === transfer.txHash)?.spends ?? [],
    ],
  )
}

/** Exchanges whose deposits reached their confirmations with this block, and our transactions that are not final. */
async function findDueJobs(sql: Sql, network: string, height: number): Promise<readonly Job[]> {
  const exchanges = await sql.query<{ id: string }>(
    `select distinct exchange_id as id from deposits where network = $1 and status = 'seen' and exchange_id is not null
       and block_height + required_confirmations - 1 between $2 - 1 and $2`,
    [network, height],
  )
  const transactions = await sql.query<{ id: string }>(
    `select distinct a.transaction_id as id from attempts a join transactions t on t.id = a.transaction_id
     where a.network = $1 and a.block_height > $2 - 1000 and t.state = 'live'`,
    [network, height],
  )
  return [
    ...exchanges.map(({ id }): Job => ({ kind: 'exchange', id })),
    ...transactions.map(({ id }): Job => ({ kind: 'transaction', id })),
  ]
}
