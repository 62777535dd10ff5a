import { parseUnits } from 'viem'
import { exchangeCost, paymentCost } from '../support/network-costs.ts'
import { decimalsOf, feeMovePercent } from '../support/published-prices.ts'
import type { Json } from '../support/until.ts'
import { isWithin, type Published, type Range, type Terms } from './dues.ts'

type PrivateType = NonNullable<Terms['privateType']>

/** The fee of the partner of a run, which is set when its fleet starts. */
export const PARTNER_BPS = 20n

/** The network fees and minimums that the quotes of a run published. */
export type PublishedTerms = Published &
  Readonly<{
    /** Records a quote, as the API returned it. */
    record(from: string, to: string, quote: Json): void
    /** Records the minimum of a quote of a private exchange: its network costs are those of both legs, which are quoted apart. */
    recordPrivate(from: string, to: string, privateType: PrivateType, quote: Json): void
    /** Quotes whose network costs are not those of the chains. */
    disputes(): readonly string[]
  }>

/** `fixedFees`: networks whose nodes state constant fee rates, so that their fees are exact. */
export function createPublishedTerms(fixedFees: readonly string[]): PublishedTerms {
  const percentOf = (currency: string) =>
    fixedFees.some((network) => currency.endsWith(`@${network}`)) ? 0n : feeMovePercent(currency)
  const fees = new Map<string, Range>()
  const refundFees = new Map<string, Range>()
  const minimums = new Map<string, Range>()
  const disputes = new Set<string>()
  const percentOfPair = (from: string, to: string) => largest(percentOf(from), percentOf(to))
  const compare = (what: string, units: bigint, cost: bigint | null, percent: bigint) => {
    if (cost === null || isWithin(widen({ least: cost, most: cost }, percent), units)) return
    disputes.add(`${what} states network costs of ${units}, and those of the chains are ${cost}`)
  }
  return {
    partnerBps: PARTNER_BPS,
    disputes: () => [...disputes],
    record(from, to, { fees: quoted, min }) {
      const network = parseUnits(quoted.network, decimalsOf(to))
      const payout = parseUnits(quoted.payout, decimalsOf(to))
      compare(`a quote of ${from} to ${to}`, network, exchangeCost(from, to, fixedFees), percentOfPair(from, to))
      compare(`a quote of one payment of ${to}`, payout, paymentCost(to, fixedFees), percentOf(to))
      extend(fees, `${from} ${to}`, network)
      extend(refundFees, to, payout)
      extend(minimums, keyOfMinimum(from, to, null), minimumUnits(from, min))
    },
    recordPrivate: (from, to, privateType, { min }) =>
      extend(minimums, keyOfMinimum(from, to, privateType), minimumUnits(from, min)),
    hasNetworkFee: (from, to) => fees.has(`${from} ${to}`),
    networkFee: (from, to) => widen(get(fees, `${from} ${to}`), percentOfPair(from, to)),
    refundFee: (currency) => widen(get(refundFees, currency), percentOf(currency)),
    minimum: (from, to, privateType) => get(minimums, keyOfMinimum(from, to, privateType)),
  }
}

const keyOfMinimum = (from: string, to: string, privateType: PrivateType | null): string =>
  [from, to, ...(privateType === null ? [] : [privateType])].join(' ')
/** A JSON number of three significant digits. */
const minimumUnits = (from: string, min: number): bigint => parseUnits(min.toFixed(decimalsOf(from)), decimalsOf(from))

const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const widen = ({ least, most }: Range, percent: bigint): Range => ({
  least: least - (least * percent) / 100n,
  most: most + (most * percent) / 100n,
})

function extend(ranges: Map<string, Range>, key: string, units: bigint): void {
  const { least, most } = ranges.get(key) ?? { least: units, most: units }
  ranges.set(key, { least: units < least ? units : least, most: units > most ? units : most })
}

function get(ranges: ReadonlyMap<string, Range>, key: string): Range {
  const range = ranges.get(key)
  if (range === undefined) throw new Error(`no quote published the terms of ${key}`)
  return range
}
