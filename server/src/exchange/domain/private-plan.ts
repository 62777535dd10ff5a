import { scale } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { ErrorCode } from '../../core/domain/errors.ts'

/** `privatePlus`: through Monero alone. `efficient`: through whatever is cheapest and fastest. */
export type PrivateType = 'privatePlus' | 'efficient'

/** Of a million: the unit of what is withheld. */
export const PPM = 1_000_000n
/** One intermediary as it stood when the choice was made: what it would pay and how long it takes, or why it cannot. */
export type IntermediaryOption = Readonly<{ assetId: AssetId }> &
  (Readonly<{ toUnits: string; seconds: number }> | Readonly<{ refused: ErrorCode | 'SAME_NETWORK' | 'SAME_WALLET' }>)

/** Drawn and chosen when the exchange is created, stored with it, and never changed. */
export type PrivatePlan = Readonly<{
  privateType: PrivateType
  /** How long the payout of each leg waits in the queue, in milliseconds. */
  delaysMs: readonly number[]
  /** How much of the intermediary's plain amount its own chain does not show, in millionths. The next leg counts it again. */
  withheldPpm: number
  /** How much more of the plain amount the recipient gets, or less, in millionths: zero on average. Absent: nothing. */
  payoutPpm?: number
  /** After this long a leg that could not be paid goes back to the source coin. */
  stallMs: number
  considered: readonly IntermediaryOption[]
}>

/** What is sent on the intermediary's chain of what the conversion gave. Never all of it. */
export function shownUnits({ withheldPpm }: PrivatePlan, plainUnits: bigint): bigint {
  return scale(plainUnits, PPM - BigInt(withheldPpm), PPM, 'down')
}

/** What the recipient gets of what the conversion gave. */
export function paidUnits({ payoutPpm = 0 }: PrivatePlan, plainUnits: bigint): bigint {
  return scale(plainUnits, PPM + BigInt(payoutPpm), PPM, 'down')
}

/** What the next leg converts for what arrived on the intermediary's chain: the withheld part is counted again. */
export function countedUnits({ withheldPpm }: PrivatePlan, arrivedUnits: bigint): bigint {
  return scale(arrivedUnits, PPM, PPM - BigInt(withheldPpm), 'down')
}
