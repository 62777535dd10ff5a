import type { Asset, AssetId } from '../../../core/domain/asset.ts'
import type { FinalityTag } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { PendingPayment, ScannedBlock, Transfer } from '../chain.ts'
import type { KeyPath } from '../spend.ts'
import type { Deposit } from './execution.ts'

export type DepositChange = Readonly<{
  id: string
  status: Deposit['status']
  creditedUnits: bigint | null
  credits: number
  isBookedAsLoss: boolean
}>

/** The blocks, deposits and sightings that the watchers record. */
export interface ChainLog {
  cursor(network: string): Promise<BlockRef | null>
  blockHash(network: string, height: number): Promise<string | null>
  /** Appends one block with its transfers to us and wakes the affected jobs. False if another watcher moved the cursor. */
  append(network: string, block: ScannedBlock, rules: AppendRules): Promise<boolean>
  /** Records the transfers to us in a recorded block that were missed, and wakes their jobs. `disputed`: not to be recorded. */
  recordMissed(
    network: string,
    block: ScannedBlock,
    disputed: readonly Transfer[],
    rules: AppendRules,
  ): Promise<MissedDeposits>
  /** Records the first block of a network. False if another watcher was faster. */
  begin(network: string, block: Pick<ScannedBlock, 'height' | 'hash' | 'parentHash'>): Promise<boolean>
  /** Removes all blocks above `height`. False if the cursor is no longer at `from`, because another watcher was faster. */
  rewind(network: string, height: number, from: BlockRef): Promise<boolean>
  recordSightings(
    network: string,
    transfers: readonly Pick<Transfer, 'txHash' | 'address' | 'memo' | 'units'>[],
  ): Promise<void>
  /** Sightings of fixed rates that no node was asked about, oldest first. */
  listSightingsToInspect(network: string, limit: number): Promise<readonly string[]>
  /** Records whether a sighting stops the clock. If so, the reserve of its exchange is kept for the payment. */
  recordInspection(network: string, txHash: string, payment: PendingPayment): Promise<void>
  /** The watcher has recorded every block that existed `agoMs` ago. */
  recordCaughtUp(network: string, agoMs: number): Promise<void>
  /** Sightings that are in no block yet, least recently looked up first. */
  listSightings(limit: number): Promise<readonly { network: string; txHash: string; exchangeId: string }[]>
  recordLookup(network: string, txHash: string, isMissing: boolean): Promise<void>
  /** If the deposit has returned with other units, it takes them: save it only to reverse its credit. */
  saveDeposit(change: DepositChange): Promise<void>
}

/** `contradicted`: transactions to us that two nodes, or a node and our rows, contradict each other about. */
export type MissedDeposits = Readonly<{ found: number; contradicted: readonly string[] }>

/** Sums of deposits, by asset. */
export type InFlight = readonly Readonly<{ assetId: AssetId; units: bigint }>[]

export type AppendRules = Readonly<{
  /** Asset of a contract (null = the native asset); null if it is not listed. */
  assetOf: (contract: string | null) => Asset | null
  /** `inFlight`: what the deposit's partner has in flight on this network, with the deposit. */
  requirements: (
    assetId: AssetId | null,
    units: bigint,
    inFlight: InFlight,
  ) => { confirmations: number; tag: FinalityTag | null }
  /** Deposits of so many newest blocks are in flight. */
  inFlightBlocks: number
  /** A transfer to a hot wallet that belongs to no exchange is unclaimed, and not capital. */
  areFundingsUnclaimed: boolean
  /** Confirmations of the operator's fundings, whatever their value: nothing is paid out for them. */
  fundingConfirmations: number
  /** Number of blocks to keep below the head, at least twice the depth of finality. */
  keepBlocks: number
  /** Each output is tracked on its own (bitcoin family, monero). */
  tracksUtxos: boolean
  /** Resource that names an output of ours when it is spent. Absent: the identity of the transfer. */
  outpoint?: (transfer: Transfer, path: KeyPath) => string
}>
