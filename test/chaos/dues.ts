import { ALL_BPS, convertAtLiveRate, grossOf, lessSpread, SPREAD_BPS } from '../support/published-prices.ts'

/*
 * What a customer is due, computed as docs/lifecycle.md ("Deposits of another amount") and docs/settings.md (spreads) publish
 * it, from the customer's own records. The arithmetic is the customer's own: nothing here may come from the server.
 */

/** Both ends are included. */
export type Range = Readonly<{ least: bigint; most: bigint }>
/** One permitted result of the deposits of an exchange. */
export type Due = Readonly<{
  /** What the recipient and the refund address must hold. */
  payout: Range
  refund: Range
  /** What the ledger must owe the partner, in the currency of the payout: the fee, and the payout if no recipient was named. */
  partner: Range
  /** The deposits that are converted, and the sum of those that are refunded or kept. */
  converted: readonly bigint[]
  returned: bigint
}>

/** The terms that a create confirmed. Currencies are named like `btc@btc`. */
export type Terms = Readonly<{
  from: string
  to: string
  flow: 'standard' | 'fixed-rate'
  privateType: 'efficient' | 'privatePlus' | null
  fromUnits: bigint
  /** At a fixed rate the promise, otherwise an estimate. */
  toUnits: bigint
  /** The create named no recipient: the partner's balance receives the proceeds. */
  creditsPartner: boolean
}>

/** What the quotes of this run published, in units of the currency. A network fee is what one payment of it costs. */
export type Published = Readonly<{
  /** The fee of the partner, which it agreed with the operator. */
  partnerBps: bigint
  hasNetworkFee(from: string, to: string): boolean
  /** Of both sides of an exchange. */
  networkFee(from: string, to: string): Range
  /** Of one payment of the currency. */
  refundFee(currency: string): Range
  /** The minimum of a pair. */
  minimum(from: string, to: string, privateType: Terms['privateType']): Range
}>

/** `spreads.fixedRateExtraBps` (docs/settings.md). */
const FIXED_EXTRA_BPS = 50n
/** Quoted amounts have at most this many significant digits. */
const QUOTED_DIGITS = 15
/** A first deposit that differs by at most 1 % gets the fixed rate; another one gets at least 98 % of it, or a refund. */
const TOLERANCE_PERCENT = 1n
const WORST_PERCENT = 98n
/** The part that is withheld from the intermediary's chain is rounded twice. */
export const WITHHELD_ROUNDING = 2n
const NOTHING: Range = { least: 0n, most: 0n }
const NO_DEPOSIT: Due = { payout: NOTHING, refund: NOTHING, partner: NOTHING, converted: [], returned: 0n }
const INTERMEDIARIES = { efficient: ['ltc@ltc', 'xmr@xmr'], privatePlus: ['xmr@xmr'] } as const

export const intermediariesOf = (type: 'efficient' | 'privatePlus'): readonly string[] => INTERMEDIARIES[type]

type Quoted = Pick<Terms, 'from' | 'to' | 'flow' | 'fromUnits'>

/** The amount and the partner's fee that a quote with this network fee must state. */
export function quotedUnits(
  { from, to, flow, fromUnits }: Quoted,
  networkFee: bigint,
  partnerBps: bigint,
): Readonly<{ toUnits: bigint; partnerUnits: bigint }> {
  const spread = flow === 'fixed-rate' ? SPREAD_BPS + FIXED_EXTRA_BPS : SPREAD_BPS
  const beforePartner = lessSpread(grossOf(from, to, significant(fromUnits)), spread)
  const beforeNetwork = lessSpread(beforePartner, partnerBps)
  return {
    toUnits: significant(positive(beforeNetwork - networkFee)),
    partnerUnits: beforePartner - beforeNetwork,
  }
}

/** Every permitted result of deposits that are in blocks. More than one only if a limit or the first deposit is ambiguous. */
export function listDues(terms: Terms, paid: readonly bigint[], published: Published): readonly Due[] {
  const later = paid.map((units) => duesOf(terms, units, false, published))
  const dues =
    terms.flow === 'standard' || paid.length === 0
      ? combine(later)
      : combineFixed(
          paid.map((units) => duesOf(terms, units, true, published)),
          later,
        )
  if (!terms.creditsPartner) return dues
  return dues.map((due) => ({ ...due, payout: NOTHING, partner: add(due.partner, due.payout) }))
}

/**
 * A fixed rate serves one deposit: the first that can execute at it. One that is only refunded is never that deposit, and uses nothing
 * up. The order of the blocks is not known, so each deposit that can execute may have been the first.
 */
function combineFixed(first: readonly (readonly Due[])[], later: readonly (readonly Due[])[]): readonly Due[] {
  const executed = first.map((dues) => dues.filter(isConverted))
  const refunded = first.map((dues) => dues.filter((due) => !isConverted(due)))
  const servingOne = executed.flatMap((dues, served) =>
    // Another deposit came after it, or before it and was refunded.
    combine(
      later.map((others, n) => (n === served ? dues : [...others, ...withoutRefunds(refunded[n] ?? [], others)])),
    ),
  )
  return [...servingOne, ...combine(refunded)]
}

const isConverted = ({ converted }: Due): boolean => converted.length > 0
/** The refund of a deposit is the same before and after the served one. */
const withoutRefunds = (refunds: readonly Due[], dues: readonly Due[]): readonly Due[] =>
  dues.every(isConverted) ? refunds : []

/** After a cancel: each deposit is refunded. */
export const listCancelledDues = (
  { from }: Pick<Terms, 'from'>,
  paid: readonly bigint[],
  published: Published,
): readonly Due[] => combine(paid.map((units) => [refunds(from, units, published)]))

/** Whether the holdings of both addresses are one of the permitted results. */
export const isDue = (dues: readonly Due[], payout: bigint, refund: bigint): boolean =>
  dues.some((due) => isWithin(due.payout, payout) && isWithin(due.refund, refund))

function duesOf(terms: Terms, units: bigint, isFirst: boolean, published: Published): readonly Due[] {
  if (terms.privateType !== null)
    return withinMinimum(terms, units, published, () => privateDues(terms, units, published))
  if (isFirst) {
    const difference = (units - terms.fromUnits) * 100n
    if (difference < -terms.fromUnits * TOLERANCE_PERCENT) return worseDues(terms, units, published)
    const excess = beforeNetworkFee(terms.from, terms.to, units - terms.fromUnits, published.partnerBps)
    const isProRata = difference <= terms.fromUnits * TOLERANCE_PERCENT
    return [paysExactly(terms, units, isProRata ? proRata(terms, units) : terms.toUnits + excess, published)]
  }
  return withinMinimum(terms, units, published, () => [
    pays(units, floating(terms.from, terms.to, units, published, published.partnerBps)),
  ])
}

/** Too little for the fixed rate: the worse of fixed and live rate, if that is at least 98 % of the quote pro rata. */
function worseDues(terms: Terms, units: bigint, published: Published): readonly Due[] {
  return withinMinimum(terms, units, published, () => {
    const byQuote = proRata(terms, units)
    const live = floating(terms.from, terms.to, units, published, published.partnerBps).payout
    const payout = { least: smaller(byQuote, live.least), most: smaller(byQuote, live.most) }
    const isEnough = (to: bigint) => to * terms.fromUnits * 100n >= terms.toUnits * units * WORST_PERCENT
    return [
      ...(isEnough(payout.most) ? [pays(units, { payout, partner: partnerFee(terms, payout, published) })] : []),
      ...(isEnough(payout.least) ? [] : [refunds(terms.from, units, published)]),
    ]
  })
}

/** A deposit below the minimum is refunded, unless it is at least the ordered amount. */
function withinMinimum(
  { from, to, fromUnits, privateType }: Terms,
  units: bigint,
  published: Published,
  list: () => readonly Due[],
): readonly Due[] {
  const minimum = published.minimum(from, to, privateType)
  const isExecuted = units >= fromUnits || units >= minimum.least
  const isRefunded = units < fromUnits && units < minimum.most
  return [...(isExecuted ? list() : []), ...(isRefunded ? [refunds(from, units, published)] : [])]
}

/** Two conversions. The customer does not know the intermediary, so each one that the type permits is possible. */
function privateDues({ from, to, privateType }: Terms, units: bigint, published: Published): readonly Due[] {
  const offered = intermediariesOf(privateType ?? 'efficient').filter((via) => published.hasNetworkFee(from, via))
  return offered.map((via) => {
    // The partner takes its fee once, from the second.
    const first = floating(from, via, units, published, 0n).payout
    const least = floating(via, to, first.least - WITHHELD_ROUNDING, published, published.partnerBps)
    const most = floating(via, to, first.most, published, published.partnerBps)
    const span = (of: 'payout' | 'partner') => ({ least: least[of].least, most: most[of].most })
    return pays(units, { payout: span('payout'), partner: span('partner') })
  })
}

type Proceeds = Pick<Due, 'payout' | 'partner'>

function floating(from: string, to: string, units: bigint, published: Published, partnerBps: bigint): Proceeds {
  const before = beforeNetworkFee(from, to, units, partnerBps)
  const fee = published.networkFee(from, to)
  // The server may read another network fee for the partner's fee than it did for the payout.
  const moved = fee.most - fee.least
  return {
    payout: { least: before - fee.most, most: before - fee.least },
    partner: { least: shareOf(before - moved, partnerBps), most: shareOf(before + moved, partnerBps) },
  }
}

const beforeNetworkFee = (from: string, to: string, units: bigint, partnerBps: bigint): bigint =>
  lessSpread(convertAtLiveRate(from, to, units), partnerBps)

/** The partner's fee, beside what is left of an amount after it. */
const shareOf = (units: bigint, partnerBps: bigint): bigint => (units * partnerBps) / (ALL_BPS - partnerBps)

/** The partner's fee beside this payout: a share of the amount before the network fee, as in a quote. */
function partnerFee({ from, to }: Terms, payout: Range, { networkFee, partnerBps }: Published): Range {
  const fee = networkFee(from, to)
  return { least: shareOf(payout.least + fee.least, partnerBps), most: shareOf(payout.most + fee.most, partnerBps) }
}

/** What does not cover its own network fee is kept (`DUST`). */
function refunds(currency: string, units: bigint, published: Published): Due {
  const fee = published.refundFee(currency)
  const refund = { least: positive(units - fee.most), most: positive(units - fee.least) }
  return { ...NO_DEPOSIT, refund, returned: units }
}

const positive = (units: bigint): bigint => (units > 0n ? units : 0n)

const pays = (deposit: bigint, proceeds: Proceeds): Due => ({ ...NO_DEPOSIT, ...proceeds, converted: [deposit] })
function paysExactly(terms: Terms, deposit: bigint, units: bigint, published: Published): Due {
  const payout = { least: units, most: units }
  return pays(deposit, { payout, partner: partnerFee(terms, payout, published) })
}
const proRata = ({ fromUnits, toUnits }: Terms, units: bigint): bigint => (toUnits * units) / fromUnits
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const isWithin = ({ least, most }: Range, units: bigint): boolean => units >= least && units <= most
const add = (a: Range, b: Range): Range => ({ least: a.least + b.least, most: a.most + b.most })

/** Every sum of one permitted result per deposit. */
function combine(perDeposit: readonly (readonly Due[])[]): readonly Due[] {
  let sums: readonly Due[] = [NO_DEPOSIT]
  for (const dues of perDeposit)
    sums = sums.flatMap((sum) =>
      dues.map((due) => ({
        payout: add(sum.payout, due.payout),
        refund: add(sum.refund, due.refund),
        partner: add(sum.partner, due.partner),
        converted: [...sum.converted, ...due.converted],
        returned: sum.returned + due.returned,
      })),
    )
  return sums
}

/** Rounded down, as quoted amounts are. */
export function significant(units: bigint): bigint {
  const excess = units.toString().length - QUOTED_DIGITS
  if (excess <= 0) return units
  const step = 10n ** BigInt(excess)
  return units - (units % step)
}
