import type { AssetId } from '../../../core/domain/asset.ts'
import type { Deposit } from './execution.ts'

export type Sweepable = Readonly<{
  network: string
  address: string
  keyIndex: number
  assetId: AssetId
  /** The largest of them, at most `SWEPT_MAX`. */
  deposits: readonly Readonly<{ id: string; units: bigint }>[]
  /** Where it stands among the others. */
  cursor: bigint
}>

/** Deposits that one sweep collects: one that leaves the chain takes the whole sweep with it. */
export const SWEEP_DEPOSITS_MAX = 100

/** Coins on their way into the hot wallets: deposits of account families, and what the operator brings. */
export interface WalletStore {
  /** Credited deposits at least `depth` deep that lie on deposit addresses still, by address and asset. */
  listSweepable(network: string, depth: number, limit: number, after: bigint): Promise<readonly Sweepable[]>
  /** False where one of them is swept by another payout already. */
  markSwept(depositIds: readonly string[], payoutId: string): Promise<boolean>
  /** Units of the deposits that a sweep collects. */
  sweptUnits(payoutId: string): Promise<bigint>
  /** Whether something of ours is on its way to this address. */
  isGasSupplyPending(network: string, address: string): Promise<boolean>
  /** The operator's transfers to hot wallets that are deep enough and not counted yet. */
  listFundings(network: string, limit: number): Promise<readonly Deposit[]>
  /** Key `index` of the hot branch is this network's wallet. Refused where the database knows another hot address. */
  registerHotAddress(network: string, address: string, index: number): Promise<void>
  registerAssets(assetIds: readonly AssetId[]): Promise<void>
}
