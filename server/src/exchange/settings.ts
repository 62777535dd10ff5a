import { defaultFixedRates, defaultStableBandPercent } from '../core/domain/book.ts'
import type { EvmParameters, FinalityTag, Network } from '../core/domain/network.ts'
import { largest } from '../lib/bigint.ts'
import type { OutputSettings } from './domain/output-plan.ts'

/** The operator's settings for the exchange services. Times are milliseconds, dollar values are scaled by 10^12. */
export type ServiceSettings = Readonly<{
  rateIdMs: number
  fixedLockMs: number
  expiryMs: number
  /** A pending transaction gets a higher fee after this time, and not before the block intervals of `stuckAfterMs`. */
  stuckMs: number
  limits: Readonly<{
    perTransactionUsd: bigint
    hourUsd: bigint
    dayUsd: bigint
    /** Shares of the rolling limits that one partner, the hot wallet of one network and one recipient may use, in percent. */
    partnerPercent: number
    networkPercent: number
    recipientPercent: number
  }>
  guards: GuardSettings
  /** Addresses of the operator's cold wallets, as `network:address`: the only ones that capital is withdrawn to. */
  coldAddresses: readonly string[]
  /** Coins that arrive at a hot wallet from outside are capital at once; otherwise unclaimed until the operator claims them. */
  fundingsAreCapital: boolean
  privacy: PrivacySettings
  outputs: OutputSettings
}>

/** Guards of the operator's money: a promise must not be worth more than it costs (docs/guards.md). */
export type GuardSettings = Readonly<{
  /** A create is refused if the live rate is by more basis points worse for us than its rateId. */
  lastLookBps: number
  /** Prices behind a fixed rate are at most this old. */
  fixedPriceAgeMs: number
  /** A payout waits while its network fee is above both: this percentage of it, and this multiple of what was charged. */
  payoutFeePercent: number
  payoutFeeMultiple: number
  /** A payment that was first seen in the mempool keeps a fixed rate if it is in a block within this time; null = by network. */
  fixedInclusionMs: number | null
  /** Unpaid fixed-rate promises take at most this share of an asset's free reserve. */
  fixedReservePercent: number
  /** One partner's unpaid fixed-rate promises take at most this share of those of all. */
  fixedPartnerPercent: number
  /** A coin that is pegged to the US dollar is neither quoted nor converted while its price is further away from it. */
  stableBandPercent: number
  /** A deposit counts as a share of what its partner has in flight: one divided by this. */
  inFlightFactor: number
  /** A floating conversion that is further away from the quote at the create waits for the operator. */
  priceMovePercent: number
  /** A deposit within the bounds at its create waits this long for the reserve before it is refunded. */
  reserveWaitMs: number
}>

export const guardDefaults = {
  lastLookBps: 50,
  fixedPriceAgeMs: defaultFixedRates.priceAgeMs,
  payoutFeePercent: 5,
  payoutFeeMultiple: 3,
  fixedInclusionMs: null,
  fixedReservePercent: defaultFixedRates.reservePercent,
  fixedPartnerPercent: defaultFixedRates.partnerPercent,
  stableBandPercent: defaultStableBandPercent,
  inFlightFactor: 10,
  priceMovePercent: 10,
  reserveWaitMs: 1_800_000,
} satisfies GuardSettings

const MINUTE_MS = 60_000

/** By default three block intervals of the network, at least 5 and at most 60 minutes. */
export function fixedInclusionMsOf({ fixedInclusionMs }: GuardSettings, blockTimeMs: number): number {
  return fixedInclusionMs ?? Math.min(Math.max(3 * blockTimeMs, 5 * MINUTE_MS), 60 * MINUTE_MS)
}

/**
 * Block intervals without a block that includes our transaction. The fee on the bitcoin family is an estimate for two blocks,
 * so four mean that it was wrong or that fees rose. With intervals of seconds they would pass before a node has answered.
 */
const STUCK_BLOCKS = { bitcoin: 4, others: 20 }

/** Time without a block after which a transaction gets a higher fee. */
export function stuckAfterMs(
  { family, blockTimeMs }: Pick<Network, 'family' | 'blockTimeMs'>,
  stuckMs: number,
): number {
  return Math.max(stuckMs, blockTimeMs * (family === 'bitcoin' ? STUCK_BLOCKS.bitcoin : STUCK_BLOCKS.others))
}

/** Ranges from which each private exchange draws its values. Public: docs/private-exchanges.md. */
export type PrivacySettings = Readonly<{
  /** Maximum random delay before a leg's payout. */
  delayMaxMs: number
  /** Maximum share of the intermediary amount that is not sent on its chain, in ppm. */
  withheldMaxPpm: number
  /** Maximum random difference of a payout from the converted amount, up or down, in ppm; 0 = none. */
  payoutMaxPpm: number
  /** A leg that could not be paid for this long is refunded. */
  stallMs: number
}>

export const privacyDefaults = {
  delayMaxMs: 600_000,
  withheldMaxPpm: 10_000,
  payoutMaxPpm: 0,
  stallMs: 21_600_000,
} as const satisfies PrivacySettings

/** Confirmations by value: the network's number up to $1 000, ×2 up to $50 000, ×4 above or without a price. */
export function requiredConfirmations(base: number, finalityBlocks: number, usd: bigint | null): number {
  const tier = usd === null ? 4 : usd <= 1_000n * USD ? 1 : usd <= 50_000n * USD ? 2 : 4
  return Math.min(base * tier, Math.max(finalityBlocks, base))
}

/**
 * The value by which a deposit's tier is chosen: its own, or the `factor`-th part of what its partner has in flight if that is
 * more. Otherwise many small deposits would be paid at the depth of one, and leave the chain together (decision 0088).
 */
export const tierUsd = (usd: bigint | null, inFlightUsd: bigint, factor: number): bigint | null =>
  usd === null ? null : largest(usd, inFlightUsd / BigInt(factor))

/**
 * Finality tag by value, for networks whose file defines tiers. On layer 2, confirmations only reflect the sequencer's
 * statement, so larger deposits wait for layer 1. An asset without a price is above every tier.
 */
export function requiredFinalityTag(
  evm: Pick<EvmParameters, 'safeAboveUsd' | 'finalizedAboveUsd'> | undefined,
  usd: bigint | null,
): FinalityTag | null {
  const isAbove = (tier: bigint | undefined) => tier !== undefined && (usd === null || usd > tier * USD)
  if (isAbove(evm?.finalizedAboveUsd)) return 'finalized'
  return isAbove(evm?.safeAboveUsd) ? 'safe' : null
}

export const USD = 10n ** 12n
