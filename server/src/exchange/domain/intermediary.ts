import { scale, toSignificant } from '../../core/domain/amount.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { largest, smallest } from '../../lib/bigint.ts'
import { minInputFor, maxInputFor, type PairPricing, quoteUnits } from './pricing.ts'
import { PPM } from './private-plan.ts'
import type { RateQuote } from './rate-quote.ts'

/** What a minute of waiting is worth when intermediaries are compared: half a basis point of what the recipient gets. */
export const MINUTE_PPM = 50n

/**
 * What a quote leaves of the target's reserve, in millionths, for what prices and fees do until the second leg is paid: on
 * its first leg an exchange above the reserve costs a fee, on its second both spreads.
 */
export const RESERVE_MARGIN_PPM = 10_000

/**
 * Both legs as one estimate: each is priced by `pricePair`, and the second converts what the first pays. `payoutPpm`: by
 * so many millionths the payout may be above the estimate, which the reserve must cover.
 */
export function quoteLegs(first: PairPricing, second: PairPricing, requestedUnits: bigint, payoutPpm = 0): RateQuote {
  const one = quoteUnits(first, requestedUnits)
  const two = one.toUnits > 0n ? quoteUnits(second, one.toUnits) : null
  const minUnits = toSignificant(largest(first.minUnits, minInputFor(first, second.minUnits)), 'up', 3)
  const most = second.maxUnits === null ? null : scale(second.maxUnits, PPM, PPM + BigInt(payoutPpm), 'down')
  const maxUnits = least(first.maxUnits, most === null ? null : maxInputFor(first, most))
  const inTarget = (units: bigint) => scale(units, second.rate.numerator, second.rate.denominator, 'down')
  const { serviceUnits, partnerUnits, networkUnits } = one.fees
  const toUnits = two?.toUnits ?? 0n
  const fees = {
    partnerUnits: (two?.fees.partnerUnits ?? 0n) + inTarget(partnerUnits),
    networkUnits: (two?.fees.networkUnits ?? 0n) + inTarget(networkUnits),
  }
  const gross = inTarget(one.toUnits + serviceUnits + partnerUnits + networkUnits)
  return {
    from: first.pair.from.asset,
    to: second.pair.to.asset,
    flow: 'standard',
    fromUnits: one.fromUnits,
    toUnits,
    minUnits,
    maxUnits: maxUnits === null ? null : toSignificant(maxUnits, 'down'),
    fromUsd: one.fromUsd,
    toUsd: two?.toUsd ?? 0n,
    fees: { ...fees, serviceUnits: gross - fees.partnerUnits - fees.networkUnits - toUnits },
    withinBounds: one.fromUnits >= minUnits && (maxUnits === null || one.fromUnits <= maxUnits),
  }
}

/** A way through one intermediary, as the live quotes of both legs have it. */
export type QuotedIntermediary = Readonly<{ via: Currency; quote: RateQuote; seconds: number }>

/**
 * The cheapest and fastest: what the recipient gets, less what the wait is worth. A way that takes the amount goes before
 * one that does not; of those that do not, the one whose bounds come nearest. Ties go by the name, so that the same book
 * gives the same choice. Null = there is none.
 */
export function chooseBestIntermediary(ways: readonly QuotedIntermediary[]): QuotedIntermediary | null {
  const byName = [...ways].sort((a, b) => (a.via.asset.id < b.via.asset.id ? -1 : 1))
  const open = byName.filter(({ quote }) => quote.withinBounds)
  if (open.length > 0) return best(open, worth)
  const [any] = byName
  if (!any) return null
  const isBelow = byName.every(({ quote }) => quote.fromUnits < quote.minUnits)
  return best(byName, ({ quote }) => (isBelow ? -quote.minUnits : (quote.maxUnits ?? quote.fromUnits)))
}

function worth({ quote, seconds }: QuotedIntermediary): bigint {
  const waiting = (MINUTE_PPM * BigInt(Math.ceil(seconds))) / 60n
  return scale(quote.toUnits, largest(PPM - waiting, 0n), PPM, 'down')
}

function best(
  ways: readonly QuotedIntermediary[],
  rank: (way: QuotedIntermediary) => bigint,
): QuotedIntermediary | null {
  let found: QuotedIntermediary | null = null
  for (const way of ways) if (found === null || rank(way) > rank(found)) found = way
  return found
}

/** Null bounds nothing. */
function least(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b
  return smallest(a, b)
}
