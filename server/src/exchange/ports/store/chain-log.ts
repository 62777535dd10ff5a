import type { Asset, AssetId } from '../../../core/domain/asset.ts'
import type { FinalityTag } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ScannedBlock, Transfer } from '../chain.ts'
import type { KeyPath } from '../spend.ts'
import type { Deposit } from './execution.ts'

export type DepositChange = Readonly<{
  id: string
  status: Deposit['status']
  creditedUnits: bigint | null
  credits: number
  lost: boolean
}>

/** What the watchers record of the chains. */
export interface ChainLog {
  cursor(network: string): Promise<BlockRef | null>
  blockHash(network: string, height: number): Promise<string | null>
  /** Appends one block with everything of ours in it; wakes whom it concerns. False where the cursor had moved meanwhile. */
  append(network: string, block: ScannedBlock, rules: AppendRules): Promise<boolean>
  /** The first block of a network that was never watched. False where another watcher has begun meanwhile. */
  begin(network: string, block: Pick<ScannedBlock, 'height' | 'hash' | 'parentHash'>): Promise<boolean>
  /** Undoes every block above `height`. False where the cursor is not at `from` any more: another watcher was faster. */
  rewind(network: string, height: number, from: BlockRef): Promise<boolean>
  recordSightings(network: string, transfers: readonly { txHash: string; address: string; memo: string | null }[]): Promise<void>
  /** Sightings that are in no block yet, oldest look first. */
  listSightings(limit: number): Promise<readonly { network: string; txHash: string; exchangeId: string }[]>
  recordLookup(network: string, txHash: string, gone: boolean): Promise<void>
  saveDeposit(change: DepositChange): Promise<void>
}

export type AppendRules = Readonly<{
  /** The asset of a contract on this network (null = native); null where it is not listed. */
  assetOf: (contract: string | null) => Asset | null
  requirements: (assetId: AssetId | null, units: bigint) => { confirmations: number; tag: FinalityTag | null }
  /** Many share one address here and are told apart by memos: what has nobody's memo is no funding. */
  usesMemos: boolean
  /** Of what the operator brings: nobody is paid for it, so its value does not matter. */
  fundingConfirmations: number
  /** Blocks kept below the head: at least twice the deepest depth that matters. */
  keepBlocks: number
  /** Coins are tracked one by one (bitcoin family). */
  tracksUtxos: boolean
  /** How the chain names a coin of ours when it is spent. Absent: by the transfer's identity. */
  outpoint?: (transfer: Transfer, path: KeyPath) => string
}>
