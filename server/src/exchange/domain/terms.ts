import { scale } from '../../core/domain/amount.ts'
import { assert } from '../../lib/assert.ts'
import type { Flow, StatusReason } from './exchange.ts'
import { afterNetworkFee, beforeNetworkFee, type PairPricing } from './pricing.ts'

/** What the book would give now, at the floating rate. */
export type LiveRate = Readonly<{
  minUnits: bigint
  maxUnits: bigint | null
  /** Units paid out for a whole deposit, net of everything. */
  payout(fromUnits: bigint): bigint
  /** Units for an excess: it travels in a payout that has borne its network fee already. */
  excess(fromUnits: bigint): bigint
}>

export type DepositFacts = Readonly<{
  flow: Flow
  /** The quote that is held to; null where the exchange floats. */
  fixed: Readonly<{ fromUnits: bigint; toUnits: bigint }> | null
  /** A fixed rate serves the first deposit; further ones float. */
  isFirst: boolean
  /** When it was first seen, by the database's clock. */
  seenAt: Date
  fixedUntil: Date | null
  expiresAt: Date
  /** The exchange had a terminal status before this deposit was seen. */
  closedBefore: boolean
  depositUnits: bigint
  /** What the create accepted: never below the minimum later, whatever fees and prices did since. Null = a further leg. */
  requestedUnits?: bigint | null
  /** Asked for only where the live rate or the bounds decide: a fixed rate on time needs no book. May throw. */
  live: () => LiveRate
}>

export type DepositTerms =
  | Readonly<{ kind: 'execute'; toUnits: bigint; rate: 'fixed' | 'floating' | 'mixed' | 'worse' }>
  | Readonly<{ kind: 'refund'; reason: StatusReason }>

/** Deposits within this share of the quoted amount have the fixed rate, pro rata. */
const TOLERANCE_PERCENT = 1n
/** Outside it, the customer gets at least this share of the quote pro rata, or the money back. */
const LEAST_PERCENT = 98n

/**
 * How one deposit executes: the policy "Amounts that differ" of docs/lifecycle.md, and nothing else. Min and max hold
 * for each deposit by itself, but for the one that a fixed rate was promised to, within its tolerance.
 */
export function decideTerms(facts: DepositFacts): DepositTerms {
  assert(facts.depositUnits > 0n, 'a deposit is positive')
  if (facts.seenAt > facts.expiresAt) return { kind: 'refund', reason: 'LATE_DEPOSIT' }
  // A closed exchange has given its rate up: what comes before the expiry floats, as every further deposit does.
  if (facts.flow === 'standard' || !facts.isFirst || facts.closedBefore) return floating(facts)
  return fixed(facts)
}

function floating(facts: DepositFacts): DepositTerms {
  const rate = facts.live()
  const reason = outside(rate, facts)
  if (reason !== null) return { kind: 'refund', reason }
  return execute(rate.payout(facts.depositUnits), 'floating')
}

function fixed(facts: DepositFacts): DepositTerms {
  const { fixed: promised, fixedUntil, depositUnits } = facts
  assert(promised !== null && fixedUntil !== null, 'a fixed rate has its amounts and its lock')
  const tolerance = promised.fromUnits * TOLERANCE_PERCENT
  const difference = (depositUnits - promised.fromUnits) * 100n
  if (facts.seenAt > fixedUntil || difference < -tolerance) return worse(facts, promised)
  if (difference <= tolerance) return execute(proRata(promised, depositUnits), 'fixed')
  const live = facts.live()
  const reason = outside(live, facts)
  if (reason !== null) return { kind: 'refund', reason }
  return execute(promised.toUnits + live.excess(depositUnits - promised.fromUnits), 'mixed')
}

/** Too little, or too late for the lock: neither side gains by it, and the customer loses 2 % at most. */
function worse(facts: DepositFacts, promised: { fromUnits: bigint; toUnits: bigint }): DepositTerms {
  const { depositUnits } = facts
  const rate = facts.live()
  const reason = outside(rate, facts)
  if (reason !== null) return { kind: 'refund', reason }
  const byQuote = proRata(promised, depositUnits)
  const byMarket = rate.payout(depositUnits)
  const isQuoteWorse = byQuote < byMarket
  const toUnits = isQuoteWorse ? byQuote : byMarket
  // Compared before any rounding: toUnits ÷ (promised.toUnits × deposit ÷ promised.fromUnits) ≥ 98 %.
  const enough = toUnits * promised.fromUnits * 100n >= promised.toUnits * depositUnits * LEAST_PERCENT
  return enough ? execute(toUnits, 'worse') : { kind: 'refund', reason: 'OUTSIDE_TOLERANCE' }
}

/** A payout of nothing is no payout. */
function execute(toUnits: bigint, rate: 'fixed' | 'floating' | 'mixed' | 'worse'): DepositTerms {
  return toUnits > 0n ? { kind: 'execute', toUnits, rate } : { kind: 'refund', reason: 'BELOW_MIN' }
}

function outside({ minUnits, maxUnits }: LiveRate, facts: DepositFacts): StatusReason | null {
  const { depositUnits, requestedUnits = null } = facts
  const wasAccepted = requestedUnits !== null && depositUnits >= requestedUnits
  if (depositUnits < minUnits && !wasAccepted) return 'BELOW_MIN'
  return maxUnits !== null && depositUnits > maxUnits ? 'ABOVE_MAX' : null
}

function proRata(promised: { fromUnits: bigint; toUnits: bigint }, depositUnits: bigint): bigint {
  return scale(promised.toUnits, depositUnits, promised.fromUnits, 'down')
}

/** The live rate of a priced direction, which floats. */
export function toLiveRate(pricing: PairPricing): LiveRate {
  assert(pricing.pair.flow === 'standard', 'the live rate is the floating one')
  return {
    minUnits: pricing.minUnits,
    maxUnits: pricing.maxUnits,
    payout: (fromUnits) => afterNetworkFee(pricing, fromUnits),
    excess: (fromUnits) => beforeNetworkFee(pricing, fromUnits),
  }
}
