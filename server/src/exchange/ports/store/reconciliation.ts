import type { AssetId } from '../../../core/domain/asset.ts'

/** Expected balance of one hot wallet by the ledger: between `low` and `high`, depending on unconfirmed transactions. */
export type Position = Readonly<{ assetId: AssetId; low: bigint; high: bigint; utxoUnits: bigint }>

export interface ReconciliationStore {
  /** `native` is the asset that network fees are paid in. */
  positions(network: string, native: AssetId): Promise<readonly Position[]>
  /** Deposit addresses of open exchanges in the native asset, with the units recorded there. Skips addresses with very many deposits. */
  openTargets(
    network: string,
    limit: number,
  ): Promise<readonly { exchangeId: string; address: string; recorded: bigint }[]>
  /** Debits less credits of the whole journal, by asset. Anything but zero is a bug or tampering. */
  imbalance(): Promise<readonly { assetId: AssetId; units: bigint }[]>
  /** Number of open exchanges by status. */
  openByStatus(): Promise<ReadonlyMap<string, number>>
}
