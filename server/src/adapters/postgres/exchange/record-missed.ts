import { AppError } from '../../../core/domain/errors.ts'
import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import type { MissedDeposits } from '../../../exchange/ports/store/chain-log.ts'
import type { Sql } from '../core/database.ts'
import { schedule, wake } from '../core/wake.ts'
import { exchangesPaid, findOurs, spendUtxos } from './append-block.ts'
import { findBlockHash, lockCursor } from './cursor.ts'
import { type Ours, type RecordRules, recordTransfers, targetKey } from './record-transfers.ts'

/**
 * Records the transfers to us in a block that is recorded already, as far as they were missed. A transaction is left out as a
 * whole if its transfers are `disputed`, or differ from what is recorded of it: its identities are then those of other
 * payments, and one payment could count twice.
 */
export async function recordMissed(
  sql: Sql,
  network: string,
  block: ScannedBlock,
  disputed: readonly Transfer[],
  rules: RecordRules,
): Promise<MissedDeposits> {
  await lockRecordedBlock(sql, network, block)
  const ours = await findOurs(sql, network, { ...block, transfers: [...block.transfers, ...disputed] })
  const own = block.transfers.filter((one) => isOurs(ours, one) && rules.assetOf(one.contract) !== null)
  const recorded = await findRecorded(sql, network, own)
  const contradicted = new Set([
    ...disputed.filter((one) => isOurs(ours, one)).map(({ txHash }) => txHash),
    ...own.filter((one) => isContradiction(recorded.get(one.identity), one)).map(({ txHash }) => txHash),
  ])
  const transfers = own.filter(
    ({ identity, txHash }) => !contradicted.has(txHash) && recorded.get(identity)?.block_hash !== block.hash,
  )
  const missed = { ...block, transfers }
  await schedule(sql, exchangesPaid(missed, ours, rules))
  const jobs = await recordTransfers(sql, network, missed, rules, ours)
  // An output that is recorded later than its block, such as change that a restored database did not know, may be spent here.
  if (rules.tracksUtxos) await spendUtxos(sql, network, block, ours)
  await wake(sql, jobs)
  // What is no deposit, such as our own change, was not recorded as one.
  const after = await findRecorded(sql, network, transfers)
  return { found: transfers.filter(({ identity }) => after.has(identity)).length, contradicted: [...contradicted] }
}

/** Locks the log, so that no block is rolled back meanwhile. */
async function lockRecordedBlock(sql: Sql, network: string, block: ScannedBlock): Promise<void> {
  const cursor = await lockCursor(sql, network)
  const stored = await findBlockHash(sql, network, block.height)
  if (!cursor || cursor.height < block.height)
    throw new AppError('NETWORK_UNAVAILABLE', `block ${block.height} of ${network} is not recorded yet`)
  if (stored !== null && stored !== block.hash)
    throw new AppError('NETWORK_UNAVAILABLE', `another block ${block.height} of ${network} is recorded`)
}

const isOurs = ({ targets, walletAddresses }: Ours, { address, memo }: Transfer): boolean =>
  targets.has(targetKey(address, memo)) || walletAddresses.has(address)

type Recorded = { identity: string; address: string; contract: string | null; units: string; block_hash: string }

/** The recorded transfers of these transactions that are in a block, by their identity on the chain now. */
async function findRecorded(
  sql: Sql,
  network: string,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<string, Recorded>> {
  if (transfers.length === 0) return new Map()
  const rows = await sql.query<Recorded>(
    `select coalesce(chain_identity, identity) as identity, address, contract, coalesce(returned_units, units) as units,
       coalesce(returned_hash, block_hash) as block_hash
     from deposits where network = $1 and tx_hash = any($2::text[]) and coalesce(returned_hash, block_hash) is not null`,
    [network, [...new Set(transfers.map(({ txHash }) => txHash))]],
  )
  return new Map(rows.map((row) => [row.identity, row]))
}

const isContradiction = (recorded: Recorded | undefined, { address, contract, units }: Transfer): boolean =>
  recorded !== undefined &&
  (recorded.address !== address || recorded.contract !== contract || BigInt(recorded.units) !== units)
