import type { AssetId } from '../../../core/domain/asset.ts'

/** What the ledger says lies in one hot wallet, and what is on its way: between `low` and `high` is right. */
export type Position = Readonly<{ assetId: AssetId; low: bigint; high: bigint; utxoUnits: bigint }>

export interface ReconciliationStore {
  /** `native` is the coin that the network's fees are paid in. */
  positions(network: string, native: AssetId): Promise<readonly Position[]>
  /** Deposit addresses of open exchanges in a network's own coin, with what was recorded there, where that is not too much to add up. */
  openTargets(
    network: string,
    limit: number,
  ): Promise<readonly { exchangeId: string; address: string; recorded: bigint }[]>
  /** Journal of the whole house by asset: debits less credits. All zero, or the database was tampered with. */
  imbalance(): Promise<readonly { assetId: AssetId; units: bigint }[]>
  /** Exchanges that are open, by status. */
  openByStatus(): Promise<ReadonlyMap<string, number>>
}
