import type { AssetId } from '../../../core/domain/asset.ts'

/** The intent of a payout of a balance, one per partner, month and asset. */
export type MonthlyPayout = Readonly<{
  partnerId: string
  partner: string
  /** As `2026-11`, in UTC. */
  month: string
  assetId: AssetId
  units: bigint
  address: string
  memo: string | null
}>

export interface MonthlyPayoutStore {
  /** Adds an intent for each balance of at least its minimum that has none in this month. */
  plan(): Promise<void>
  /** Intents of this month without a payout. */
  listUnpaid(): Promise<readonly MonthlyPayout[]>
  setPaid(intent: MonthlyPayout, payoutId: string): Promise<void>
  /** Null ends it. False without such a partner with a recipient for the asset, or with nothing to end. */
  set(partnerName: string, assetId: AssetId, minimumUnits: bigint | null): Promise<boolean>
}
