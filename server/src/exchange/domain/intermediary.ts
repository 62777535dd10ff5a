import { scale, toSignificant } from '../../core/domain/amount.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { largest, smallest } from '../../lib/bigint.ts'
import {
  beforeNetworkFee,
  maxInputFor,
  minInputFor,
  type PairPricing,
  payoutUnits,
  quotedInputFor,
  quoteUnits,
} from './pricing.ts'
import { PPM, type QuotedLegs } from './private-plan.ts'
import type { RateQuote } from './rate-quote.ts'

/** Cost of a minute of waiting when intermediaries are compared: half a basis point of the payout. */
export const MINUTE_PPM = 50n

/**
 * Share of the target's reserve, in ppm, that a quote leaves free, because prices and fees change until the second leg is
 * paid. Without reserve, a refund from the first leg costs the customer a network fee, from the second both spreads.
 */
export const RESERVE_MARGIN_PPM = 10_000

/** No tokens, because an issuer can freeze them. No memo networks, because two exchanges would share one address. */
export const isIntermediary = ({ asset, enabled, network }: Currency): boolean =>
  enabled && asset.contract === null && network.memo === 'none'

/**
 * Combines both legs into one estimate: the second converts the output of the first. The payout may exceed the estimate by
 * `payoutPpm` ppm, and the reserve must cover that.
 */
export function quoteLegs(first: PairPricing, second: PairPricing, requestedUnits: bigint, payoutPpm = 0): RateQuote {
  const firstQuote = quoteUnits(first, requestedUnits)
  const secondQuote = firstQuote.toUnits > 0n ? quoteUnits(second, firstQuote.toUnits) : null
  const { minUnits, maxUnits } = boundsOfLegs(first, second, payoutPpm)
  const outputOf = (units: bigint) => payoutUnits(second, payoutUnits(first, units))
  const inTarget = (units: bigint) => scale(units, second.rate.numerator, second.rate.denominator, 'down')
  const { serviceUnits, partnerUnits, networkUnits } = firstQuote.fees
  const toUnits = secondQuote?.toUnits ?? 0n
  const fees = {
    partnerUnits: (secondQuote?.fees.partnerUnits ?? 0n) + inTarget(partnerUnits),
    networkUnits: (secondQuote?.fees.networkUnits ?? 0n) + inTarget(networkUnits),
    payoutUnits: secondQuote?.fees.payoutUnits ?? 0n,
  }
  const gross = inTarget(firstQuote.toUnits + serviceUnits + partnerUnits + networkUnits)
  return {
    from: first.pair.from.asset,
    to: second.pair.to.asset,
    flow: 'standard',
    fromUnits: firstQuote.fromUnits,
    toUnits,
    minUnits,
    maxUnits,
    minToUnits: outputOf(minUnits),
    maxToUnits: maxUnits === null ? null : outputOf(maxUnits),
    fromUsd: firstQuote.fromUsd,
    toUsd: secondQuote?.toUsd ?? 0n,
    fees: { ...fees, serviceUnits: gross - fees.partnerUnits - fees.networkUnits - toUnits },
    withinBounds: firstQuote.fromUnits >= minUnits && (maxUnits === null || firstQuote.fromUnits <= maxUnits),
  }
}

/** The bounds that `quoteLegs` states, which depend on no amount. */
export function boundsOfLegs(
  first: PairPricing,
  second: PairPricing,
  payoutPpm: number,
): Pick<RateQuote, 'minUnits' | 'maxUnits'> {
  const minUnits = toSignificant(largest(first.minUnits, minInputFor(first, second.minUnits)), 'up', 3)
  const secondMax = second.maxUnits === null ? null : scale(second.maxUnits, PPM, PPM + BigInt(payoutPpm), 'down')
  const exactMax = lowerMax(first.maxUnits, secondMax === null ? null : maxInputFor(first, secondMax))
  return { minUnits, maxUnits: exactMax === null ? null : toSignificant(exactMax, 'down') }
}

/** The smallest input for which `quoteLegs` states at least `toUnits`. */
export function legsInputFor(first: PairPricing, second: PairPricing, toUnits: bigint): bigint {
  return quotedInputFor(first, quotedInputFor(second, toUnits))
}

/** What both legs give for an amount, before network fees. */
export function quoteBeforeFees(first: PairPricing, second: PairPricing, fromUnits: bigint): QuotedLegs {
  const viaUnits = beforeNetworkFee(first, fromUnits)
  return { viaUnits: viaUnits.toString(), toUnits: beforeNetworkFee(second, viaUnits).toString() }
}

/** An intermediary with the live quote through it and the expected duration. */
export type QuotedIntermediary = Readonly<{ via: Currency; quote: RateQuote; quoted: QuotedLegs; seconds: number }>

/**
 * The highest payout after the cost of waiting, among the intermediaries that accept the amount. If none does, the one whose
 * bounds are closest. Ties are broken by asset id, so that the same book gives the same choice. null = no candidates.
 */
export function chooseBestIntermediary(candidates: readonly QuotedIntermediary[]): QuotedIntermediary | null {
  const byId = [...candidates].sort((a, b) => (a.via.asset.id < b.via.asset.id ? -1 : 1))
  const accepting = byId.filter(({ quote }) => quote.withinBounds)
  if (accepting.length > 0) return best(accepting, valueAfterWait)
  const isBelow = byId.every(({ quote }) => quote.fromUnits < quote.minUnits)
  return best(byId, ({ quote }) => (isBelow ? -quote.minUnits : (quote.maxUnits ?? quote.fromUnits)))
}

const waitPpm = (seconds: number): bigint => (MINUTE_PPM * BigInt(Math.ceil(seconds))) / 60n

function valueAfterWait({ quote, seconds }: QuotedIntermediary): bigint {
  return scale(quote.toUnits, largest(PPM - waitPpm(seconds), 0n), PPM, 'down')
}

/** Sorts intermediaries that give the same payout: the lowest input after the cost of waiting comes first. */
export function compareInputs(a: QuotedIntermediary, b: QuotedIntermediary): number {
  const cost = ({ quote, seconds }: QuotedIntermediary) => quote.fromUnits * (PPM + waitPpm(seconds))
  const difference = cost(a) - cost(b)
  return difference === 0n ? (a.via.asset.id < b.via.asset.id ? -1 : 1) : difference < 0n ? -1 : 1
}

function best(
  candidates: readonly QuotedIntermediary[],
  rank: (candidate: QuotedIntermediary) => bigint,
): QuotedIntermediary | null {
  let winner: QuotedIntermediary | null = null
  for (const candidate of candidates) if (winner === null || rank(candidate) > rank(winner)) winner = candidate
  return winner
}

/** The lower of two maximums; null = no maximum. */
function lowerMax(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b
  return smallest(a, b)
}
