import { scale } from '../../core/domain/amount.ts'
import { assert } from '../../lib/assert.ts'
import type { Flow, StatusReason } from './exchange.ts'
import { afterNetworkFee, beforeNetworkFee, type PairPricing } from './pricing.ts'

/** The floating rate at this moment. */
export type LiveRate = Readonly<{
  minUnits: bigint
  maxUnits: bigint | null
  /** Units paid out for a whole deposit, net of all fees. */
  payout(fromUnits: bigint): bigint
  /** Units for an excess over the quoted amount. The quoted part already paid the network fee. */
  excess(fromUnits: bigint): bigint
}>

/** A fixed-rate quote, and until when it is kept. */
export type FixedRate = Readonly<{
  fromUnits: bigint
  toUnits: bigint
  /** A deposit must be first seen by then … */
  until: Date
  /** … and be in a block by then, or within this time after it was first seen. */
  inclusionMs: number
}>

/** When a deposit came, by the chain and by the database's clock. */
export type DepositTimes = Readonly<{ seenAt: Date; includedAt: Date }>

/** Whether a deposit came in time for a fixed rate. Without the second condition a payment with a low fee would be an option without end (M1). */
export function isInTime({ until, inclusionMs }: FixedRate, { seenAt, includedAt }: DepositTimes): boolean {
  const includedBy = Math.max(until.getTime(), seenAt.getTime() + inclusionMs)
  return seenAt <= until && includedAt.getTime() <= includedBy
}

/** Until when a payment must be in a block that was first seen at the end of the lock. */
export const lastInclusion = ({ until, inclusionMs }: Pick<FixedRate, 'until' | 'inclusionMs'>): Date =>
  new Date(until.getTime() + inclusionMs)

/** Whether a deposit is at least the quoted amount, within the tolerance. */
export const coversQuote = ({ fromUnits }: Pick<FixedRate, 'fromUnits'>, depositUnits: bigint): boolean =>
  (fromUnits - depositUnits) * 100n <= fromUnits * TOLERANCE_PERCENT

export type DepositFacts = Readonly<{
  flow: Flow
  /** The fixed-rate quote; null = floating. */
  fixed: FixedRate | null
  /** Only the first deposit gets the fixed rate. */
  isFirst: boolean
  /** First seen, in a block or by a sighting that stops the clock. */
  seenAt: Date
  /** First in a block. */
  includedAt: Date
  expiresAt: Date
  /** The partner cancelled the exchange: the customer does not expect an execution. */
  isCancelled?: boolean
  /** The exchange had a terminal status before this deposit. */
  closedBefore: boolean
  depositUnits: bigint
  /** The ordered amount. A deposit of at least this is never `BELOW_MIN`, even if the minimum has risen. null = a second leg. */
  requestedUnits?: bigint | null
  /** The quote's maximum at the create; null = none. A deposit within it waits for the reserve. Absent: none waits. */
  acceptedMaxUnits?: bigint | null
  /** Called only if the live rate or the bounds matter: a fixed rate in time needs no book. May throw. */
  live: () => LiveRate
}>

export type DepositTerms =
  | Readonly<{ kind: 'execute'; toUnits: bigint; rate: 'fixed' | 'floating' | 'mixed' | 'worse' }>
  | Readonly<{ kind: 'refund'; reason: StatusReason }>
  /** The reserve does not cover it now. */
  | Readonly<{ kind: 'wait'; reason: StatusReason }>

/** A deposit that differs from the quoted amount by at most this gets the fixed rate, pro rata. */
export const TOLERANCE_PERCENT = 1n
/** Otherwise the customer gets at least this share of the quote pro rata, or a refund. */
export const WORST_PERCENT = 98n

/**
 * Terms of one deposit, as in "Deposits of another amount" of docs/lifecycle.md. Min and max apply to each deposit, except to
 * one that gets its fixed rate within the tolerance.
 */
export function decideTerms(facts: DepositFacts): DepositTerms {
  assert(facts.depositUnits > 0n, 'a deposit is positive')
  if (facts.isCancelled) return { kind: 'refund', reason: 'CANCELLED' }
  if (facts.includedAt > facts.expiresAt) return { kind: 'refund', reason: 'LATE_DEPOSIT' }
  // A closed exchange has no fixed rate any more: a deposit before the expiry floats, like every later deposit.
  if (facts.flow === 'standard' || !facts.isFirst || facts.closedBefore) return floating(facts)
  return fixed(facts)
}

function floating(facts: DepositFacts): DepositTerms {
  const rate = facts.live()
  const reason = outOfBounds(rate, facts)
  if (reason !== null) return refuse(reason, facts)
  return execute(rate.payout(facts.depositUnits), 'floating')
}

function fixed(facts: DepositFacts): DepositTerms {
  const { fixed: quote, depositUnits } = facts
  assert(quote !== null, 'a fixed rate has its amounts and its lock')
  const tolerance = quote.fromUnits * TOLERANCE_PERCENT
  if (!isInTime(quote, facts) || !coversQuote(quote, depositUnits)) return worse(facts, quote)
  if ((depositUnits - quote.fromUnits) * 100n <= tolerance) return execute(proRata(quote, depositUnits), 'fixed')
  const live = facts.live()
  const reason = outOfBounds(live, facts)
  if (reason !== null) return refuse(reason, facts)
  return execute(quote.toUnits + live.excess(depositUnits - quote.fromUnits), 'mixed')
}

/** Too little, or after the lock: the worse of fixed and live rate, so neither side gains. The customer loses at most 2 %. */
function worse(facts: DepositFacts, quote: { fromUnits: bigint; toUnits: bigint }): DepositTerms {
  const { depositUnits } = facts
  const rate = facts.live()
  const reason = outOfBounds(rate, facts)
  if (reason !== null) return refuse(reason, facts)
  const byQuote = proRata(quote, depositUnits)
  const byMarket = rate.payout(depositUnits)
  const isQuoteWorse = byQuote < byMarket
  const toUnits = isQuoteWorse ? byQuote : byMarket
  // Compared before any rounding: toUnits ÷ (quote.toUnits × deposit ÷ quote.fromUnits) ≥ 98 %.
  const isEnough = toUnits * quote.fromUnits * 100n >= quote.toUnits * depositUnits * WORST_PERCENT
  return isEnough ? execute(toUnits, 'worse') : { kind: 'refund', reason: 'OUTSIDE_TOLERANCE' }
}

/** Refunds if the output rounds to zero. */
function execute(toUnits: bigint, rate: 'fixed' | 'floating' | 'mixed' | 'worse'): DepositTerms {
  return toUnits > 0n ? { kind: 'execute', toUnits, rate } : { kind: 'refund', reason: 'BELOW_MIN' }
}

/** Whether the create accepted an amount of this size. */
export function wasWithinMax(acceptedMaxUnits: bigint | null | undefined, depositUnits: bigint): boolean {
  return acceptedMaxUnits === null || (acceptedMaxUnits !== undefined && depositUnits <= acceptedMaxUnits)
}

/** Other customers' promises may have taken the reserve since the create: that is no reason to refund at once (M3). */
function refuse(reason: StatusReason, { acceptedMaxUnits, depositUnits }: DepositFacts): DepositTerms {
  const isWaiting = reason === 'ABOVE_MAX' && wasWithinMax(acceptedMaxUnits, depositUnits)
  return { kind: isWaiting ? 'wait' : 'refund', reason }
}

function outOfBounds({ minUnits, maxUnits }: LiveRate, facts: DepositFacts): StatusReason | null {
  const { depositUnits, requestedUnits = null } = facts
  const wasAccepted = requestedUnits !== null && depositUnits >= requestedUnits
  if (depositUnits < minUnits && !wasAccepted) return 'BELOW_MIN'
  return maxUnits !== null && depositUnits > maxUnits ? 'ABOVE_MAX' : null
}

function proRata(quote: { fromUnits: bigint; toUnits: bigint }, depositUnits: bigint): bigint {
  return scale(quote.toUnits, depositUnits, quote.fromUnits, 'down')
}

/** The live rate of a floating direction. */
export function toLiveRate(pricing: PairPricing): LiveRate {
  assert(pricing.pair.flow === 'standard', 'the live rate is the floating one')
  return {
    minUnits: pricing.minUnits,
    maxUnits: pricing.maxUnits,
    payout: (fromUnits) => afterNetworkFee(pricing, fromUnits),
    excess: (fromUnits) => beforeNetworkFee(pricing, fromUnits),
  }
}
