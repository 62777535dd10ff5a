import type { AssetId } from '../../core/domain/asset.ts'
import { largest } from '../../lib/bigint.ts'

/** The highest network fees that workers pay on a network, in units of its native coin. */
export type MaxNetworkFees = Readonly<{
  native: AssetId
  /** Of a payout in the native coin. */
  nativePayoutUnits: bigint
  /** Of a payout in a token. */
  tokenPayoutUnits: bigint
  /** Of one more input of a transaction; 0 where transactions have none, or where a payout's fee has it. */
  inputUnits: bigint
}>

/** What the hot wallet of a network holds and owes of an asset, and what it has still to pay fees for. */
export type CapitalPosition = Readonly<{
  /** What the wallet holds of the asset, without queued withdrawals. */
  heldUnits: bigint
  /** Units of the asset that are neither reserved nor owed. Negative if more is. */
  units: bigint
  /** The same of the native coin. */
  nativeUnits: bigint
  /** Payouts that are not signed yet: the queue, converted deposits, and unpaid fixed rates. */
  nativePayouts: bigint
  tokenPayouts: bigint
  /** Network fees of transactions that are signed and in no block. */
  unpaidFeeUnits: bigint
  /** Spending every output of the wallet, each at most for its own amount. */
  inputFeeUnits: bigint
}>

export type FreeCapital = Readonly<{
  /** What a withdrawal may take. */
  units: bigint
  /** Kept for network fees, in units of the native coin. */
  feeUnits: bigint
  /** What the wallet lacks of it. */
  missingFeeUnits: bigint
}>

/**
 * What the operator may withdraw of an asset, so that the wallet can afterwards pay this withdrawal, its queue, and every open
 * fixed rate, at any fee rate that workers accept. The native coin keeps these fees; a token is free only while the native
 * coin has them.
 */
export function freeCapitalOf(assetId: AssetId, position: CapitalPosition, fees: MaxNetworkFees): FreeCapital {
  const isNative = assetId === fees.native
  const feeUnits =
    (isNative ? fees.nativePayoutUnits : fees.tokenPayoutUnits) +
    position.nativePayouts * fees.nativePayoutUnits +
    position.tokenPayouts * fees.tokenPayoutUnits +
    position.unpaidFeeUnits +
    position.inputFeeUnits
  const missingFeeUnits = largest(feeUnits - position.nativeUnits, 0n)
  if (isNative) return { units: largest(position.units - feeUnits, 0n), feeUnits, missingFeeUnits }
  return { units: missingFeeUnits > 0n ? 0n : largest(position.units, 0n), feeUnits, missingFeeUnits }
}
