import type { StaticDecode } from 'typebox'
import { type GuardSettings, guardDefaults } from '../exchange/settings.ts'
import { duration, section, whole } from './schema.ts'

const BPS_MAX = 10_000

/** Guards of the operator's money (docs/guards.md). */
export const guardsSchema = section({
  lastLookBps: whole(
    guardDefaults.lastLookBps,
    [0, BPS_MAX],
    'A create with a rateId is refused (`RATE_ID_EXPIRED`, with a fresh quote) if the live rate is by more than this worse for us, in basis points',
  ),
  fixedReservePercent: whole(
    guardDefaults.fixedReservePercent,
    [1, 100],
    "Unpaid fixed-rate exchanges take at most this share of an asset's free reserve, in percent",
  ),
  fixedPartnerPercent: whole(
    guardDefaults.fixedPartnerPercent,
    [1, 100],
    'Unpaid fixed-rate exchanges of one partner take at most this share of what all together may take, in percent',
  ),
  stableBandPercent: whole(
    guardDefaults.stableBandPercent,
    [1, 100],
    'A stablecoin whose price is further than this from one US dollar is neither quoted nor converted at a floating rate until its price is back, in percent; EURC is not pegged to the dollar',
  ),
  inFlightFactor: whole(
    guardDefaults.inFlightFactor,
    [1, 1_000],
    "A deposit gets the confirmations of its own value or of its partner's deposits in flight divided by this, whichever is more",
  ),
  priceMovePercent: whole(
    guardDefaults.priceMovePercent,
    [1, 1_000],
    'A floating conversion that is further away than this from the quote at the create, in either direction, is held (`PRICE_GUARD`) until prices return or the operator decides, in percent',
  ),
  fixedPriceAge: duration(
    guardDefaults.fixedPriceAgeMs,
    'A fixed rate is quoted only while the prices are at most this old',
  ),
  payoutFeePercent: whole(
    guardDefaults.payoutFeePercent,
    [0, 100],
    'A payout waits while its network fee is above this percentage of it and above the next setting',
  ),
  payoutFeeMultiple: whole(
    guardDefaults.payoutFeeMultiple,
    [1, 1_000],
    'A payout waits while its network fee is above this multiple of what its customer was charged and above the setting before; a payment is held for a decision, whatever its size, if the contract of its recipient uses more than this multiple of the usual gas',
  ),
})

/** Two guards are among the clocks. */
type GuardClocks = Readonly<{ fixedInclusion?: number; reserveWait: number }>

export function toGuardSettings(
  { fixedPriceAge, ...guards }: StaticDecode<typeof guardsSchema>,
  { fixedInclusion, reserveWait }: GuardClocks,
): GuardSettings {
  return {
    ...guards,
    fixedPriceAgeMs: fixedPriceAge,
    fixedInclusionMs: fixedInclusion ?? null,
    reserveWaitMs: reserveWait,
  }
}
