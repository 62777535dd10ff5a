import { scale } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { ErrorCode } from '../../core/domain/errors.ts'

/** `privatePlus`: through Monero only. `efficient`: through the best intermediary of any network. */
export const privateTypes = ['privatePlus', 'efficient'] as const
export type PrivateType = (typeof privateTypes)[number]

/** 100 % in parts per million. */
export const PPM = 1_000_000n
/** One candidate at the time of the choice: its payout and duration, or the reason for its exclusion. */
export type IntermediaryOption = Readonly<{ assetId: AssetId }> &
  (Readonly<{ toUnits: string; seconds: number }> | Readonly<{ refused: ErrorCode | 'SAME_NETWORK' | 'SAME_WALLET' }>)

/** Units as text, because the plan is stored as JSON. */
export type QuotedLegs = Readonly<{ viaUnits: string; toUnits: string }>

/** Random draws and choice of a private exchange. Stored at creation and never changed. */
export type PrivatePlan = Readonly<{
  privateType: PrivateType
  /** Random delay of each leg's payout, in milliseconds. */
  delaysMs: readonly number[]
  /** Share of the intermediary amount that is not sent on its chain, in ppm. The second leg adds it again. */
  withheldPpm: number
  /** Random difference of the payout from the converted amount, in ppm; zero on average. Absent: none. */
  payoutPpm?: number
  /** A leg that could not be paid for this long is refunded in the source asset. */
  stallMs: number
  considered: readonly IntermediaryOption[]
  /** What the quote gives for the ordered amount, before network fees: of the intermediary, and of the target. */
  quoted: QuotedLegs
}>

/** The part of the converted amount that is sent on the intermediary's chain. Always less than the whole. */
export function shownUnits({ withheldPpm }: PrivatePlan, convertedUnits: bigint): bigint {
  return scale(convertedUnits, PPM - BigInt(withheldPpm), PPM, 'down')
}

/** The recipient's amount for the converted amount. */
export function paidUnits({ payoutPpm = 0 }: PrivatePlan, convertedUnits: bigint): bigint {
  return scale(convertedUnits, PPM + BigInt(payoutPpm), PPM, 'down')
}

/** The amount that the second leg converts: the received amount plus the withheld part. */
export function countedUnits({ withheldPpm }: PrivatePlan, receivedUnits: bigint): bigint {
  return scale(receivedUnits, PPM, PPM - BigInt(withheldPpm), 'down')
}
