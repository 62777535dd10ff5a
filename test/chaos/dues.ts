import { convertAtLiveRate, grossOf, lessSpread, SPREAD_BPS } from '../support/published-prices.ts'

/*
 * What a customer is due, computed as docs/lifecycle.md ("Deposits of another amount") and docs/settings.md (spreads) publish
 * it, from the customer's own records. The arithmetic is the customer's own: nothing here may come from the server.
 */

/** Both ends are included. */
export type Range = Readonly<{ least: bigint; most: bigint }>
/** One permitted result: what the recipient and the refund address must hold. */
export type Due = Readonly<{ payout: Range; refund: Range }>

/** The terms that a create confirmed. Currencies are named like `btc@btc`. */
export type Terms = Readonly<{
  from: string
  to: string
  flow: 'standard' | 'fixed-rate'
  privateType: 'efficient' | 'privatePlus' | null
  fromUnits: bigint
  /** At a fixed rate the promise, otherwise an estimate. */
  toUnits: bigint
}>

/** What the quotes of this run published, in units of the currency. A network fee is what one payment of it costs. */
export type Published = Readonly<{
  hasNetworkFee(from: string, to: string): boolean
  /** Of both sides of an exchange. */
  networkFee(from: string, to: string): Range
  /** Of one payment of the currency. */
  refundFee(currency: string): Range
  /** The minimum of a pair. */
  minimum(from: string, to: string): Range
}>

/** `spreads.fixedRateExtraBps`; the sandbox's partners take no fee. */
const FIXED_EXTRA_BPS = 50n
/** Quoted amounts have at most this many significant digits. */
const QUOTED_DIGITS = 15
/** A first deposit that differs by at most 1 % gets the fixed rate; another one gets at least 98 % of it, or a refund. */
const TOLERANCE_PERCENT = 1n
const WORST_PERCENT = 98n
/** The part that is withheld from the intermediary's chain is rounded twice. */
const WITHHELD_ROUNDING = 2n
const NOTHING: Range = { least: 0n, most: 0n }
const INTERMEDIARIES = { efficient: ['ltc@ltc', 'xmr@xmr'], privatePlus: ['xmr@xmr'] } as const

export const intermediariesOf = (type: 'efficient' | 'privatePlus'): readonly string[] => INTERMEDIARIES[type]

/** The amount that a quote with this network fee must state. */
export function quotedUnits({ from, to, flow, fromUnits }: Omit<Terms, 'toUnits'>, networkFee: bigint): bigint {
  const spread = flow === 'fixed-rate' ? SPREAD_BPS + FIXED_EXTRA_BPS : SPREAD_BPS
  const net = lessSpread(grossOf(from, to, significant(fromUnits)), spread) - networkFee
  return net > 0n ? significant(net) : 0n
}

/** Every permitted result of deposits that are in blocks. More than one only if a limit or the first deposit is ambiguous. */
export function listDues(terms: Terms, paid: readonly bigint[], published: Published): readonly Due[] {
  // A fixed rate serves the deposit that is in a block first.
  const firsts = terms.flow === 'fixed-rate' ? paid.map((_, n) => n) : [-1]
  return paid.length === 0
    ? [{ payout: NOTHING, refund: NOTHING }]
    : firsts.flatMap((first) => combine(paid.map((units, n) => duesOf(terms, units, n === first, published))))
}

/** Whether the holdings of both addresses are one of the permitted results. */
export const isDue = (dues: readonly Due[], payout: bigint, refund: bigint): boolean =>
  dues.some((due) => isWithin(due.payout, payout) && isWithin(due.refund, refund))

function duesOf(terms: Terms, units: bigint, isFirst: boolean, published: Published): readonly Due[] {
  if (terms.privateType !== null) return privateDues(terms, units, published)
  if (isFirst) {
    const difference = (units - terms.fromUnits) * 100n
    if (difference < -terms.fromUnits * TOLERANCE_PERCENT) return worseDues(terms, units, published)
    if (difference <= terms.fromUnits * TOLERANCE_PERCENT) return [paysExactly(proRata(terms, units))]
    const excess = convertAtLiveRate(terms.from, terms.to, units - terms.fromUnits)
    return [paysExactly(terms.toUnits + excess)]
  }
  return withinMinimum(terms, units, published, () => [pays(floating(terms.from, terms.to, units, published))])
}

/** Too little for the fixed rate: the worse of fixed and live rate, if that is at least 98 % of the quote pro rata. */
function worseDues(terms: Terms, units: bigint, published: Published): readonly Due[] {
  return withinMinimum(terms, units, published, () => {
    const byQuote = proRata(terms, units)
    const live = floating(terms.from, terms.to, units, published)
    const payout = { least: smaller(byQuote, live.least), most: smaller(byQuote, live.most) }
    const isEnough = (to: bigint) => to * terms.fromUnits * 100n >= terms.toUnits * units * WORST_PERCENT
    return [
      ...(isEnough(payout.most) ? [pays(payout)] : []),
      ...(isEnough(payout.least) ? [] : [refunds(terms.from, units, published)]),
    ]
  })
}

/** A deposit below the minimum is refunded, unless it is at least the ordered amount. */
function withinMinimum(
  { from, to, fromUnits }: Terms,
  units: bigint,
  published: Published,
  list: () => readonly Due[],
): readonly Due[] {
  const minimum = published.minimum(from, to)
  const isExecuted = units >= fromUnits || units >= minimum.least
  const isRefunded = units < fromUnits && units < minimum.most
  return [...(isExecuted ? list() : []), ...(isRefunded ? [refunds(from, units, published)] : [])]
}

/** Two conversions. The customer does not know the intermediary, so each one that the type permits is possible. */
function privateDues({ from, to, privateType }: Terms, units: bigint, published: Published): readonly Due[] {
  const offered = intermediariesOf(privateType ?? 'efficient').filter((via) => published.hasNetworkFee(from, via))
  return offered.map((via) => {
    const first = floating(from, via, units, published)
    return pays({
      least: floating(via, to, first.least - WITHHELD_ROUNDING, published).least,
      most: floating(via, to, first.most, published).most,
    })
  })
}

function floating(from: string, to: string, units: bigint, published: Published): Range {
  const net = convertAtLiveRate(from, to, units)
  const fee = published.networkFee(from, to)
  return { least: net - fee.most, most: net - fee.least }
}

/** What does not cover its own network fee is kept (`DUST`). */
function refunds(currency: string, units: bigint, published: Published): Due {
  const fee = published.refundFee(currency)
  return { payout: NOTHING, refund: { least: positive(units - fee.most), most: positive(units - fee.least) } }
}

const positive = (units: bigint): bigint => (units > 0n ? units : 0n)

const pays = (payout: Range): Due => ({ payout, refund: NOTHING })
const paysExactly = (units: bigint): Due => pays({ least: units, most: units })
const proRata = ({ fromUnits, toUnits }: Terms, units: bigint): bigint => (toUnits * units) / fromUnits
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const isWithin = ({ least, most }: Range, units: bigint): boolean => units >= least && units <= most
const add = (a: Range, b: Range): Range => ({ least: a.least + b.least, most: a.most + b.most })

/** Every sum of one permitted result per deposit. */
function combine(perDeposit: readonly (readonly Due[])[]): readonly Due[] {
  let sums: readonly Due[] = [{ payout: NOTHING, refund: NOTHING }]
  for (const dues of perDeposit)
    sums = sums.flatMap((sum) =>
      dues.map(({ payout, refund }) => ({ payout: add(sum.payout, payout), refund: add(sum.refund, refund) })),
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
