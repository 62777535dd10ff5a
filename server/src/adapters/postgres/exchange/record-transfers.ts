import type { Job } from '../../../core/ports/jobs.ts'
import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import { type PayeeMacs, senderPayee } from '../../../exchange/ports/payee-macs.ts'
import type { AppendRules, InFlight } from '../../../exchange/ports/store/chain-log.ts'
import { timeOrderedId } from '../../../lib/id.ts'
import type { Sql } from '../core/database.ts'
import { readInFlight } from './in-flight.ts'
import { legKey, replaceDepositHash } from './next-leg.ts'
import { recordStrays } from './record-strays.ts'
import { reportDuplicates } from './report-duplicates.ts'
import { findRowIdentities } from './returned-transfers.ts'

/** The caller's rules, and the codes of senders (I-39). */
export type RecordRules = AppendRules & Readonly<{ macs: PayeeMacs }>

export type Target = {
  exchange_id: string
  leg: number
  address: string
  memo: string
  key_index: string
  source_execution: string | null
}
/** A hot wallet or change address. */
export type WalletAddress = { address: string; branch: 'hot' | 'change'; key_index: string }
/** Our rows that a block touches. `legTransfers`: our payouts that fund a next leg, by `legKey`. */
export type Ours = Readonly<{
  targets: Map<string, Target>
  walletAddresses: Map<string, WalletAddress>
  attempts: Map<string, string>
  /** Hashes of transactions that a signer released and the database lacks since it was restored. */
  forgotten: ReadonlySet<string>
  legTransfers: ReadonlySet<string>
}>
type OwnTransfer = Readonly<{
  transfer: Transfer
  target: Target | null
  walletAddress: WalletAddress | null
  /** A deposit of an exchange, or a transfer to a wallet address that is not ours. */
  isPayin: boolean
  /** A payment by anyone else to the address of a later leg, which is never shown: it belongs to no exchange. */
  isStray: boolean
  /** Its identity on the chain, if its row has another one. */
  chainIdentity?: string
}>

export const targetKey = (address: string, memo: string | null) => `${address} ${memo ?? ''}`

/** Whether we signed this transaction. */
export const isOwnTransaction = ({ attempts, forgotten }: Ours, txHash: string): boolean =>
  attempts.has(txHash) || forgotten.has(txHash)

/**
 * The customer pays the first leg: a transfer in one of our own transactions is change, a sweep or gas. Our payout of the
 * leg before pays a later leg; our stored transaction identifies it, not the data of the chain.
 */
export function isDeposit(ours: Ours, rules: RecordRules, transfer: Transfer, { leg }: Target): boolean {
  if (leg === 0) return !isOwnTransaction(ours, transfer.txHash)
  return ours.legTransfers.has(legKey(transfer.txHash, transfer.address, rules.assetOf(transfer.contract)?.id ?? ''))
}

/**
 * Records the transfers to our addresses, in as many statements for one as for thousands: anyone can fill a block with them
 * for a few dollars (M5). Only listed assets make rows of their own.
 */
export async function recordTransfers(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: RecordRules,
  ours: Ours,
): Promise<readonly Job[]> {
  const all = block.transfers.flatMap((transfer) => readOwn(ours, rules, transfer) ?? [])
  const listed = all.filter(({ transfer }) => rules.assetOf(transfer.contract) !== null)
  await recordStrays(
    sql,
    network,
    block.height,
    all.filter(({ transfer, isPayin, isStray }) => {
      return rules.assetOf(transfer.contract) === null && (isPayin || isStray)
    }),
  )
  // Our payment to ourselves is one deposit, whichever of its attempts confirms. A token may report it twice.
  const renamed = new Set<string>()
  for (const { transfer, target, isPayin } of listed) {
    const source = target?.source_execution
    if (!isPayin || !source || renamed.has(source)) continue
    renamed.add(source)
    await replaceDepositHash(sql, network, source, transfer)
  }
  // One statement cannot update a row twice, so a second transfer with the same identity waits for the next statement.
  let waiting: readonly OwnTransfer[] = await findRows(sql, network, rules, listed)
  while (waiting.length > 0) {
    const batch = takeBatch(waiting)
    await recordBatch(sql, network, block, rules, batch)
    waiting = waiting.filter((one) => !batch.has(one))
  }
  await endSightings(sql, network, all)
  return [
    ...[...ours.attempts.values()].map((id): Job => ({ kind: 'transaction', id })),
    ...listed.flatMap(({ target, isPayin }): Job[] => {
      return isPayin && target ? [{ kind: 'exchange', id: target.exchange_id }] : []
    }),
  ]
}

function readOwn(ours: Ours, rules: RecordRules, transfer: Transfer): OwnTransfer | null {
  const target = ours.targets.get(targetKey(transfer.address, transfer.memo)) ?? null
  const walletAddress = ours.walletAddresses.get(transfer.address) ?? null
  if (target === null && walletAddress === null) return null
  const isOurPayment = isOwnTransaction(ours, transfer.txHash)
  const isPayin = target === null ? !isOurPayment : isDeposit(ours, rules, transfer, target)
  return { transfer, target, walletAddress, isPayin, isStray: target !== null && target.leg > 0 && !isOurPayment }
}

/** Gives each transfer the identity of its row. */
async function findRows(
  sql: Sql,
  network: string,
  rules: RecordRules,
  listed: readonly OwnTransfer[],
): Promise<readonly OwnTransfer[]> {
  // Elsewhere the hash of a transaction covers its outputs.
  if (rules.tracksUtxos) return listed
  const isIncoming = ({ isPayin, isStray }: OwnTransfer) => isPayin || isStray
  const identities = await findRowIdentities(
    sql,
    network,
    listed.filter(isIncoming).map(({ transfer }) => transfer),
  )
  return listed.map((one) => {
    const chainIdentity = one.transfer.identity
    const identity = identities.get(chainIdentity) ?? chainIdentity
    if (!isIncoming(one) || identity === chainIdentity) return one
    return { ...one, transfer: { ...one.transfer, identity }, chainIdentity }
  })
}

/** Rows per statement. */
const BATCH_MAX = 5_000

function takeBatch(waiting: readonly OwnTransfer[]): ReadonlySet<OwnTransfer> {
  const byIdentity = new Map<string, OwnTransfer>()
  for (const one of waiting) {
    if (byIdentity.size === BATCH_MAX) break
    if (!byIdentity.has(one.transfer.identity)) byIdentity.set(one.transfer.identity, one)
  }
  return new Set(byIdentity.values())
}

async function recordBatch(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: RecordRules,
  batch: ReadonlySet<OwnTransfer>,
): Promise<void> {
  const incoming = [...batch].filter(({ isPayin, isStray }) => isPayin || isStray)
  const depositIds = await upsertDeposits(sql, network, block, rules, incoming)
  const duplicates = incoming.filter(({ transfer }) => !depositIds.has(transfer.identity))
  await reportDuplicates(
    sql,
    network,
    block,
    rules.fundingConfirmations,
    duplicates.map(({ transfer }) => transfer),
  )
  await openExecutions(sql, block, rules, incoming, depositIds)
  if (incoming.some(({ isStray }) => isStray)) await alarmInternal(sql, network, incoming)
  if (!rules.tracksUtxos) return
  const skipped = new Set(duplicates)
  await recordUtxos(
    sql,
    network,
    block,
    rules,
    [...batch].filter((one) => one.transfer.contract === null && !skipped.has(one)),
    depositIds,
  )
}

/** A credited deposit returns with other units: its credit is reversed before it takes its new block. */
const RETURNS_CHANGED = "(d.status = 'credited' and d.block_height is null and d.units <> excluded.units)"

/**
 * One row per transfer, by its identity; after a reorg its block changes, and on EVM chains perhaps its units. A new row of a
 * known transaction takes the times of that transaction. It was first seen when a sighting of it, or of a payment that it
 * replaced, stopped the clock. A block's own time counts as well, because we may read the block late. What the value of a row
 * requires never falls. A deposit that was reversed or rejected in one block is checked again in the next. Returns the ids by
 * identity, without those whose identity belongs to another transaction.
 */
async function upsertDeposits(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: RecordRules,
  incoming: readonly OwnTransfer[],
): Promise<ReadonlyMap<string, string>> {
  if (incoming.length === 0) return new Map()
  const spends = new Map(block.transactions.map((one) => [one.txHash, one.spends]))
  const inFlight = await readInFlight(sql, network, block.height, rules, incoming)
  const rows = await sql.query<{ id: string; identity: string }>(
    `with incoming as materialized (
       select * from jsonb_to_recordset($4::jsonb) as r (n int, identity text, tx_hash text, exchange_id uuid, leg int, address text, memo text,
         key_index bigint, asset_id text, contract text, units numeric, chain_identity text, sender text, sender_mac text, confirmations int, tag text, unclaimed boolean, spends text[])),
     -- Once per transaction: read per row, the rows that this statement has added would be visited again for each row.
     earlier as materialized (
       select k.tx_hash, k.exchange_id, o.included_at, o.first_seen_at from (select distinct tx_hash, exchange_id from incoming) k
       cross join lateral (
         select (array_agg(included_at order by first_seen_at))[1] as included_at, min(first_seen_at) as first_seen_at
         from deposits where network = $1 and tx_hash = k.tx_hash and exchange_id = k.exchange_id) o),
     recorded as (insert into deposits as d (network, identity, tx_hash, exchange_id, leg, address, memo, key_index, asset_id, contract, units, chain_identity, sender, sender_mac,
       block_height, block_hash, required_confirmations, required_tag, unclaimed, status, included_at, first_seen_at)
     select $1, r.identity, r.tx_hash, r.exchange_id, r.leg, r.address, r.memo, r.key_index, r.asset_id, r.contract, r.units, r.chain_identity, r.sender, r.sender_mac,
       $2, $3, r.confirmations, r.tag, r.unclaimed, case when r.asset_id is null then 'rejected' else 'seen' end,
       least(clock_timestamp(), to_timestamp($5), o.included_at),
       least(clock_timestamp(), to_timestamp($5), o.first_seen_at,
         (select min(s.first_seen_at) from sightings s where s.exchange_id = r.exchange_id and s.stops_clock and s.network = $1
            and case when s.tx_hash = r.tx_hash then s.gone_at is null else s.spends && r.spends and r.units = any (s.units) end))
     from incoming r left join earlier o on o.tx_hash = r.tx_hash and o.exchange_id = r.exchange_id
     order by r.n
     on conflict (network, identity) do update set
       block_height = case when not ${RETURNS_CHANGED} then excluded.block_height end,
       block_hash = case when not ${RETURNS_CHANGED} then excluded.block_hash end,
       orphaned_at = case when ${RETURNS_CHANGED} then d.orphaned_at end,
       returned_units = case when ${RETURNS_CHANGED} then excluded.units end,
       returned_height = case when ${RETURNS_CHANGED} then excluded.block_height end,
       returned_hash = case when ${RETURNS_CHANGED} then excluded.block_hash end,
       units = case when d.block_height is null and d.status <> 'credited' then excluded.units else d.units end,
       chain_identity = excluded.chain_identity, sender = excluded.sender, sender_mac = excluded.sender_mac,
       required_confirmations = greatest(d.required_confirmations, excluded.required_confirmations),
       -- 'finalized' comes before 'safe' in the alphabet.
       required_tag = least(d.required_tag, excluded.required_tag),
       status = case when d.status = 'reversed' or (d.status = 'rejected' and d.asset_id is not null) then 'seen' else d.status end
       where d.tx_hash = excluded.tx_hash
     returning id, identity, status, lost, block_height),
     -- Back on the chain before its loss could be booked.
     ended as (delete from alarms using recorded r where subject = 'reorg:' || r.id and r.status = 'credited' and not r.lost
       and r.block_height is not null)
     select id, identity from recorded`,
    [
      network,
      block.height,
      block.hash,
      JSON.stringify(
        incoming.map((one, n) => ({
          n,
          ...depositRow(network, rules, one, inFlight),
          spends: spends.get(one.transfer.txHash) ?? [],
        })),
      ),
      // Blocks state whole seconds.
      block.time + 1,
    ],
  )
  return new Map(rows.map(({ id, identity }) => [identity, id]))
}

function depositRow(
  network: string,
  rules: RecordRules,
  { transfer, target, walletAddress, isStray, chainIdentity }: OwnTransfer,
  inFlight: ReadonlyMap<string, InFlight>,
) {
  // Where outputs are spent in place, a stray is in our wallet: it is unclaimed, so that the operator can return it.
  const isUnclaimedStray = isStray && rules.tracksUtxos
  const asset = isStray && !isUnclaimedStray ? null : rules.assetOf(transfer.contract)
  const owner = isUnclaimedStray ? null : target
  const required =
    target?.leg === 0
      ? rules.requirements(asset?.id ?? null, transfer.units, inFlight.get(target.exchange_id) ?? [])
      : { confirmations: rules.fundingConfirmations, tag: null }
  return {
    identity: transfer.identity,
    tx_hash: transfer.txHash,
    exchange_id: owner?.exchange_id ?? null,
    leg: owner?.leg ?? null,
    address: transfer.address,
    memo: transfer.memo ?? '',
    key_index: target?.key_index ?? walletAddress?.key_index ?? null,
    asset_id: asset?.id ?? null,
    contract: transfer.contract,
    units: transfer.units.toString(),
    chain_identity: chainIdentity ?? null,
    sender: transfer.sender,
    sender_mac:
      transfer.sender === null ? null : rules.macs.of(senderPayee(network, transfer.identity, transfer.sender)),
    confirmations: Math.max(required.confirmations, transfer.lockConfirmations ?? 0),
    tag: required.tag,
    unclaimed: isUnclaimedStray || (target === null && rules.areFundingsUnclaimed),
  }
}

/** One alarm per listed asset, however many strangers pay internal addresses. */
async function alarmInternal(sql: Sql, network: string, incoming: readonly OwnTransfer[]): Promise<void> {
  const byContract = new Map(
    incoming
      .filter(({ isStray }) => isStray)
      .map(({ transfer, target }) => [transfer.contract ?? 'native', { transfer, target }]),
  )
  for (const [contract, { transfer, target }] of byContract) {
    await sql.query(
      `insert into alarms (subject, alarm, detail) values ($1, 'someone paid an internal address that is never shown', $2)
       on conflict (subject) do update set detail = excluded.detail, seen_at = clock_timestamp()`,
      [
        `stray:${network}:${contract}`,
        JSON.stringify({ txHash: transfer.txHash, exchangeId: target?.exchange_id ?? null }),
      ],
    )
  }
}

async function openExecutions(
  sql: Sql,
  block: ScannedBlock,
  rules: RecordRules,
  incoming: readonly OwnTransfer[],
  depositIds: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = incoming.flatMap(({ transfer, target, isStray }, n) => {
    const depositId = depositIds.get(transfer.identity)
    const asset = rules.assetOf(transfer.contract)
    if (target === null || isStray || asset === null || depositId === undefined) return []
    const { txHash, units } = transfer
    return {
      n,
      id: timeOrderedId(),
      exchange_id: target.exchange_id,
      deposit_id: depositId,
      leg: target.leg,
      payin_hash: txHash,
      source_execution: target.source_execution,
      detail: { txHash, units: units.toString(), assetId: asset.id, height: block.height },
    }
  })
  if (rows.length === 0) return
  await sql.query(
    `with r as (
       select * from jsonb_to_recordset($1::jsonb) as r (n int, id uuid, exchange_id uuid, deposit_id bigint, leg int,
         payin_hash text, source_execution uuid, detail jsonb)),
     opened as (
       insert into executions (id, exchange_id, deposit_id, leg, payin_hash, source_execution)
       select id, exchange_id, deposit_id, leg, payin_hash, source_execution from r order by n
       on conflict do nothing returning id)
     insert into events (exchange_id, execution_id, event, status, detail)
     select r.exchange_id, r.id, 'deposit seen', 'confirming', r.detail from r join opened using (id) order by r.n`,
    [JSON.stringify(rows)],
  )
}

async function recordUtxos(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  rules: RecordRules,
  own: readonly OwnTransfer[],
  depositIds: ReadonlyMap<string, string>,
): Promise<void> {
  if (own.length === 0) return
  const spends = new Map(block.transactions.map((one) => [one.txHash, one.spends]))
  const rows = own.map(({ transfer, target, walletAddress }) => {
    const branch = target ? 'deposit' : (walletAddress?.branch ?? 'hot')
    const keyIndex = target?.key_index ?? walletAddress?.key_index ?? '0'
    return {
      outpoint: rules.outpoint?.(transfer, { branch, index: Number(keyIndex) }) ?? transfer.identity,
      address: transfer.address,
      branch,
      key_index: keyIndex,
      units: transfer.units.toString(),
      deposit_id: depositIds.get(transfer.identity) ?? null,
      made_from: spends.get(transfer.txHash) ?? [],
    }
  })
  await sql.query(
    `insert into coins (network, outpoint, address, branch, key_index, units, block_height, block_hash, deposit_id, made_from)
     select $1, r.outpoint, r.address, r.branch, r.key_index, r.units, $2, $3, r.deposit_id, r.made_from
     from jsonb_to_recordset($4::jsonb) as r (outpoint text, address text, branch text, key_index bigint, units numeric,
       deposit_id bigint, made_from text[])
     on conflict (network, outpoint) do update set block_height = excluded.block_height, block_hash = excluded.block_hash, gone_at = null`,
    [network, block.height, block.hash, JSON.stringify(rows)],
  )
}

/** What a block includes is no longer pending. */
async function endSightings(sql: Sql, network: string, own: readonly OwnTransfer[]): Promise<void> {
  const hashes = [...new Set(own.filter((one) => one.isPayin || one.isStray).map(({ transfer }) => transfer.txHash))]
  if (hashes.length === 0) return
  await sql.query(
    'update sightings set gone_at = clock_timestamp() where network = $1 and tx_hash = any($2::text[]) and gone_at is null',
    [network, hashes],
  )
}
