import type { PaidFee } from '../swap-chain.ts'
import type { NewSwap } from './swaps.ts'

/** A swap fee that cannot be attributed to a partner. Addresses in canonical form. */
export type UnclaimedFee = PaidFee & Readonly<{ network: string }>

export type FeeScanResult = Readonly<{
  /** Unreported swaps of partners. A swap that already has a row is left unchanged. */
  swaps: readonly NewSwap[]
  unclaimed: readonly UnclaimedFee[]
  /** Hashes of the transactions that paid a fee: those whose swaps count as failed are tracked again. */
  paidHashes: readonly string[]
}>

/** Progress and results of the scan for fees of unreported swaps. */
export interface SwapFeeStore {
  /** Height of the last scanned block of a network. Stores and returns `first` if none was scanned. */
  readScannedHeight(network: string, first: number): Promise<number>
  /** The hashes without a row. */
  findUnreported(network: string, hashes: readonly string[]): Promise<ReadonlySet<string>>
  /** Stores the result of the blocks after `from` up to `to` in one transaction. False if another process scanned them first. */
  saveScan(network: string, range: Readonly<{ from: number; to: number }>, result: FeeScanResult): Promise<boolean>
  /** Resets the scan to a block. False if no later block was scanned. */
  resetScan(network: string, height: number): Promise<boolean>
  listPartnerIds(): Promise<readonly string[]>
}
