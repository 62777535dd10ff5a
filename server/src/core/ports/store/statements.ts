import type { AssetId } from '../../domain/asset.ts'

/** Bookings of one event on the account of a partner, on one day in UTC. */
export type Movement = Readonly<{
  day: string
  assetId: AssetId
  /** Of the journal entries. */
  event: string
  credited: bigint
  debited: bigint
  bookings: number
}>

/** The operator pays the whole balance once a month to this recipient, if it is at least the minimum. */
export type MonthlySetting = Readonly<{
  assetId: AssetId
  minimumUnits: bigint
  address: string
  memo: string | null
  /** Balances in other currencies are converted into this one before. */
  convertsOthers: boolean
}>

export interface StatementStore {
  /** By day, asset and event. Both days are `YYYY-MM-DD` and inclusive. */
  movements(partnerId: string, from: string, to: string): Promise<readonly Movement[]>
  /** By asset. */
  monthlySettings(partnerId: string): Promise<readonly MonthlySetting[]>
}
