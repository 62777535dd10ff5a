import type { AssetId } from '../../../core/domain/asset.ts'
import type { Need } from '../chain.ts'
import type { Deposit } from './execution.ts'

/** What the chains took back, and what can be proven of it. */
export interface RecoveryStore {
  /** What must hold for coins that are in no block now: what their transactions spend, and theirs in turn. */
  origins(network: string, outpoints: readonly string[]): Promise<readonly Need[]>
  /** Those of these coins that are in no block any more, and the height of the chain that they left. */
  goneCoins(network: string, outpoints: readonly string[]): Promise<readonly { outpoint: string; goneAt: number }[]>
  /** Counted fundings that are in no block now; locked inside a transaction. */
  lostFundings(network: string, limit: number): Promise<readonly Deposit[]>
  /** Units of an asset that are promised beyond what the hot wallet holds; 0 where it covers them. */
  shortfall(assetId: AssetId): Promise<bigint>
}
