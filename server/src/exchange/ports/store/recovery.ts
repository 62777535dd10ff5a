import type { AssetId } from '../../../core/domain/asset.ts'
import type { RequiredSpend } from '../chain.ts'
import type { Deposit } from './execution.ts'

/** What the chains took back, and what can be proven of it. */
export interface RecoveryStore {
  /** What must hold for coins that are in no block now: what their transactions spend, and theirs in turn. */
  findAncestorSpends(network: string, outpoints: readonly string[]): Promise<readonly RequiredSpend[]>
  /** Those of these coins that are in no block any more, and the height of the chain that they left. */
  findMissingOutputs(network: string, outpoints: readonly string[]): Promise<readonly { outpoint: string; missingSince: number }[]>
  /** Counted fundings that are in no block now; locked inside a transaction. */
  listOrphanedFundings(network: string, limit: number): Promise<readonly Deposit[]>
  /** Units of an asset that are promised beyond what the hot wallet holds; 0 where it covers them. */
  shortfall(assetId: AssetId): Promise<bigint>
}
