import type { AssetId } from '../../../core/domain/asset.ts'

/** Fees of partners that the ledger records at one address of the operator. */
export type HeldFees = Readonly<{ address: string; assetId: AssetId; units: bigint }>

type NextAddress = Readonly<{ address: string; from: Date }>
/** A partner's fee address on a network. Canonical addresses; null = none. */
export type OwnFeeAddress = Readonly<{ network: string; address: string | null; next: NextAddress | null }>

/** The e-mail about a change. `next` null: removed, or withdrawn. */
export type FeeAddressMail = (network: string, next: NextAddress | null) => Readonly<{ subject: string; body: string }>

export type FeeAddressRequest = Readonly<{
  partnerId: string
  network: string
  /** Null removes the address and a waiting change, at once. */
  address: string | null
  /** The API key that asks. */
  keyId: string
  delayMs: number
  /** The least time between two new addresses. */
  everyMs: number
  /** Null: there is no mail server. */
  mail: FeeAddressMail | null
  /** Refuses a new address without a mail server. */
  requiresMail: boolean
}>

/** The fee addresses of partners, and the fees that the operator holds for them. */
export interface FeeAccounts {
  /** The partner's own fee address on a network that is in effect; null if it has none. */
  findAddress(partnerId: string, network: string): Promise<string | null>
  /** By network; those with neither an address nor a change are absent. */
  listAddresses(partnerId: string): Promise<readonly OwnFeeAddress[]>
  /**
   * Lets a new address wait for `delayMs` and queues the e-mail about it. The address in effect withdraws a waiting change,
   * and a waiting one keeps its time.
   */
  requestAddress(
    request: FeeAddressRequest,
  ): Promise<'done' | 'no e-mail' | 'no mail server' | Readonly<{ retryAfterSeconds: number }>>
  /** Sets the address at once, as the operator; null removes it. False if there is nothing to change: no such partner, or no address to remove. */
  setAddress(partnerName: string, network: string, address: string | null): Promise<boolean>
  /** Held fees by address and asset, including balances that have returned to zero. */
  listHeldFees(): Promise<readonly HeldFees[]>
  /** Decimals of an asset in which a fee was booked; null if none was. */
  findDecimals(assetId: AssetId): Promise<number | null>
  /** The same of several; those in which no fee was booked are absent. */
  listDecimals(assetIds: readonly AssetId[]): Promise<ReadonlyMap<AssetId, number>>
}
