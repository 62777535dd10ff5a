import type { AssetId } from '../../../core/domain/asset.ts'

/** The intent of a payout of a balance, one per partner, month and asset. The address is the recipient's when it was read. */
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

/** A partner that is paid in one currency, with conversions of this month that are not made. */
export type DueConversion = Readonly<{
  partnerId: string
  partner: string
  month: string
  assetId: AssetId
  /** Currencies with a payout of their own, which are not converted. */
  ownAssets: readonly AssetId[]
}>

/** `convertsOthers`: the other balances are converted into this currency before; one setting of a partner may. */
export type MonthlyTerms = Readonly<{ minimumUnits: bigint; convertsOthers: boolean }>

/** `changed`: the recipient is another one than in the intent that was read, or its setting was ended. */
export type IntentState = 'due' | 'paid' | 'suspended' | 'changed'

export interface MonthlyPayoutStore {
  listUnconverted(): Promise<readonly DueConversion[]>
  setConverted(due: DueConversion): Promise<void>
  /**
   * Gives intents of this month without a payout the present recipient, and adds an intent for each balance of at least its minimum
   * that has none in this month and waits for no conversion.
   */
  plan(): Promise<void>
  /** Intents of this month without a payout, also of suspended partners, but not of settings that were ended. */
  listUnpaid(): Promise<readonly MonthlyPayout[]>
  /** Until the end of the transaction, the state stays: no other worker pays it, nor can the partner or its recipient change. */
  lock(intent: MonthlyPayout): Promise<IntentState>
  setPaid(intent: MonthlyPayout, payoutId: string): Promise<void>
  /**
   * Null ends it. False without such a partner with a recipient for the asset, or with nothing to end. If it converts the others,
   * no other currency of the partner does any more.
   */
  set(partnerName: string, assetId: AssetId, terms: MonthlyTerms | null): Promise<boolean>
}
