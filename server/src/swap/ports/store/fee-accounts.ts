import type { AssetId } from '../../../core/domain/asset.ts'

/** Fees of partners that the ledger records at one address of the operator. */
export type HeldFees = Readonly<{ address: string; assetId: AssetId; units: bigint }>

/** A partner's own fee address on a network. */
export type FeeAddress = Readonly<{ partnerId: string; network: string; address: string }>

/** The fee addresses of partners, and the fees that the operator holds for them. */
export interface FeeAccounts {
  /** The partner's own fee address on a network; null if it has none. */
  findAddress(partnerId: string, network: string): Promise<string | null>
  /** Those of all partners, by network. */
  listAddresses(): Promise<readonly FeeAddress[]>
  /** Null removes the address. False if there is nothing to change: no such partner, or no address to remove. */
  setAddress(partnerName: string, network: string, address: string | null): Promise<boolean>
  /** Held fees by address and asset, including balances that have returned to zero. */
  listHeldFees(): Promise<readonly HeldFees[]>
  /** Decimals of an asset in which a fee was booked; null if none was. */
  findDecimals(assetId: AssetId): Promise<number | null>
}
