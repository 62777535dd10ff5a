import { BPS, scale, toSignificant } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import {
  type Book,
  FEES_MAX_AGE_MS,
  type NetworkFees,
  PRICES_MAX_AGE_MS,
  RESERVES_MAX_AGE_MS,
} from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import { convert, getPrice, midPrice, type Ratio, ratio, usdValue } from '../../core/domain/price.ts'
import { assert } from '../../lib/assert.ts'
import { largest, smallest } from '../../lib/bigint.ts'
import type { Flow } from './exchange.ts'
import type { RateQuote } from './rate-quote.ts'

export type Pair = Readonly<{ from: Currency; to: Currency; flow: Flow; partnerFeeBps: number }>

/** One direction as it is priced by one book: what every quote of it shares. */
export type PairPricing = Readonly<{
  pair: Pair
  /** Units of `to` per unit of `from` at the house's side of the market. */
  rate: Ratio
  serviceBps: bigint
  partnerBps: bigint
  /** The payout's network fee, in units of `to`. */
  networkUnits: bigint
  /** Units of `to` that one payout can deliver now; null where nothing bounds it. */
  availableUnits: bigint | null
  minUnits: bigint
  maxUnits: bigint | null
  /** Dollars per whole coin scaled by 10^12, for figures that are shown. */
  fromPrice: bigint
  toPrice: bigint
  /** Milliseconds since 1970 after which a source of it is too old. */
  goodUntil: number
}>

/** `min` is rounded up to so few digits: readable, and not another one at every tick of the price. */
const MIN_DIGITS = 3

/** Prices a direction, or says why it cannot be honoured now. Pure; worth keeping for as long as the book is current. */
export function pricePair(book: Book, pair: Pair, now: number): PairPricing {
  const { from, to } = pair
  checkOpen(book, pair)
  checkFresh(book, now)
  const fromCosts = getCosts(book, from, now)
  const toCosts = getCosts(book, to, now)
  const rate = ratio(from.definition, to.definition, book.prices, 'give')
  const serviceBps = BigInt(spreadBps(book, pair))
  const partnerBps = BigInt(pair.partnerFeeBps)
  assert(
    serviceBps >= 0n && serviceBps < BPS && partnerBps >= 0n && partnerBps < BPS,
    'a fee is 0 % or more and below 100 %',
  )
  const { networkUnits, availableUnits } = toCosts
  const costs = { rate, serviceBps, partnerBps, networkUnits }
  const least = largest(minInputFor(costs, toCosts.leastPayoutUnits), fromCosts.leastDepositUnits)
  const minUnits = toSignificant(least, 'up', MIN_DIGITS)
  const maxUnits = availableUnits === null ? null : toSignificant(maxInputFor(costs, availableUnits), 'down')
  if (maxUnits !== null && maxUnits < minUnits) {
    throw new AppError(
      'INSUFFICIENT_LIQUIDITY',
      `the reserve of ${to.asset.ticker} does not cover an exchange at the moment`,
    )
  }
  return {
    pair,
    ...costs,
    availableUnits,
    minUnits,
    maxUnits,
    fromPrice: midPrice(getPrice(book.prices, from.definition.priceKey)),
    toPrice: midPrice(getPrice(book.prices, to.definition.priceKey)),
    goodUntil: Math.min(
      book.prices.at + PRICES_MAX_AGE_MS,
      book.reserves.at + RESERVES_MAX_AGE_MS,
      fromCosts.at + FEES_MAX_AGE_MS,
      toCosts.at + FEES_MAX_AGE_MS,
    ),
  }
}

/**
 * The estimate for an amount. Both amounts have at most 15 significant digits, rounded down, so that they are exact as
 * JSON numbers; what the rounding leaves stays with the house, as part of the service fee. More in never gives less out.
 */
export function quoteUnits(pricing: PairPricing, requestedUnits: bigint): RateQuote {
  assert(requestedUnits > 0n, 'a quoted amount is positive')
  const { pair, rate, minUnits, maxUnits } = pricing
  const fromUnits = toSignificant(requestedUnits, 'down')
  const grossUnits = scale(fromUnits, rate.numerator, rate.denominator, 'down')
  const afterService = keep(grossUnits, pricing.serviceBps)
  const afterPartner = keep(afterService, pricing.partnerBps)
  const partnerUnits = afterService - afterPartner
  const networkUnits = smallest(pricing.networkUnits, afterPartner)
  const toUnits = toSignificant(afterPartner - networkUnits, 'down')
  return {
    from: pair.from.asset,
    to: pair.to.asset,
    flow: pair.flow,
    fromUnits,
    toUnits,
    minUnits,
    maxUnits,
    fromUsd: usdValue(fromUnits, pair.from.asset, pricing.fromPrice, 'down'),
    toUsd: usdValue(toUnits, pair.to.asset, pricing.toPrice, 'down'),
    fees: { serviceUnits: grossUnits - partnerUnits - networkUnits - toUnits, partnerUnits, networkUnits },
    withinBounds: fromUnits >= minUnits && (maxUnits === null || fromUnits <= maxUnits),
  }
}

/**
 * What an intermediary is worth in the coin that it was bought with. Neither side must be open for orders: it is no new
 * exchange, and the intermediary's own network is not asked for anything.
 */
export function priceReturn(book: Book, from: Currency, to: Currency, now: number): Costs {
  checkFresh(book, now)
  return {
    rate: ratio(from.definition, to.definition, book.prices, 'give'),
    serviceBps: BigInt(spreadBps(book, { from, to, flow: 'standard', partnerFeeBps: 0 })),
    partnerBps: 0n,
    networkUnits: getCosts(book, to, now).networkUnits,
  }
}

/**
 * What one payout (or refund) of a currency costs now, in units of the currency itself. For whoever pays one out. The
 * network's own coin needs no price for it: its refunds do not wait for one.
 */
export function payoutFeeIn(book: Book, currency: Currency, now: number): bigint {
  if (currency.asset.contract !== null) checkFresh(book, now)
  return getCosts(book, currency, now).networkUnits
}

export type Costs = Pick<PairPricing, 'rate' | 'serviceBps' | 'partnerBps' | 'networkUnits'>

/** What `fromUnits` are worth in `to` after the spread and the partner's fee, before the payout's network fee. */
export function beforeNetworkFee(costs: Costs, fromUnits: bigint): bigint {
  const gross = scale(fromUnits, costs.rate.numerator, costs.rate.denominator, 'down')
  return keep(keep(gross, costs.serviceBps), costs.partnerBps)
}

/** What `fromUnits` pay out: net of everything, not rounded to significant digits. */
export function afterNetworkFee(costs: Costs, fromUnits: bigint): bigint {
  return largest(beforeNetworkFee(costs, fromUnits) - costs.networkUnits, 0n)
}

/** What a quote of `fromUnits` says is paid out: to 15 significant digits. */
export function payoutUnits(costs: Costs, fromUnits: bigint): bigint {
  return toSignificant(afterNetworkFee(costs, fromUnits), 'down')
}

/** The least amount in that pays out `toUnits` or more. Exact: every step of the way is floor(x × n ÷ d). */
export function minInputFor(costs: Costs, toUnits: bigint): bigint {
  if (toUnits <= 0n) return 0n
  const afterService = scale(toUnits + costs.networkUnits, BPS, BPS - costs.partnerBps, 'up')
  const gross = scale(afterService, BPS, BPS - costs.serviceBps, 'up')
  return scale(gross, costs.rate.denominator, costs.rate.numerator, 'up')
}

/** The most that can come in while no more than `toUnits` go out. */
export function maxInputFor(costs: Costs, toUnits: bigint): bigint {
  return minInputFor(costs, toUnits + 1n) - 1n
}

/** What is left of `units` after a fee, which is rounded up. */
function keep(units: bigint, feeBps: bigint): bigint {
  return feeBps === 0n ? units : (units * (BPS - feeBps)) / BPS
}

function checkOpen(book: Book, { from, to, flow }: Pair): void {
  if (from.asset.id === to.asset.id) {
    throw new AppError('SAME_CURRENCY', 'fromCurrency and toCurrency are the same', { field: 'toCurrency' })
  }
  for (const [field, { enabled, asset, network }] of [
    ['fromCurrency', from],
    ['toCurrency', to],
  ] as const) {
    if (!enabled || book.pauses.assets.has(asset.id)) {
      throw new AppError('PAIR_UNAVAILABLE', `${asset.ticker} on ${asset.network} is not available`, { field })
    }
    if (book.pauses.networks.has(network.id)) {
      throw new AppError('NETWORK_PAUSED', `the network ${network.id} is paused`, { extra: { network: network.id } })
    }
  }
  if (flow === 'fixed-rate' && !(from.definition.supportsFixedRate && to.definition.supportsFixedRate)) {
    throw new AppError('FIXED_RATE_UNSUPPORTED', 'this pair has no fixed rate', { field: 'flow' })
  }
}

/** Never a quote by old figures: of prices, or of what there is to pay out. */
function checkFresh(book: Book, now: number): void {
  if (now - book.prices.at > PRICES_MAX_AGE_MS || now - book.reserves.at > RESERVES_MAX_AGE_MS) {
    throw new AppError('RATES_UNAVAILABLE', 'there are no current rates')
  }
}

/** What one currency's network costs in units of the currency: shared by all of its directions. */
type NetworkCosts = Readonly<{
  /** Milliseconds since 1970 of the fee rate. */
  at: number
  networkUnits: bigint
  availableUnits: bigint | null
  /** As much as the network fee again, and an output that is relayed: less makes no sense. */
  leastPayoutUnits: bigint
  /** What can go back: twice the fee of a refund, and an output that is relayed. */
  leastDepositUnits: bigint
}>

/** Books are immutable, so that what follows from one can be kept beside it. */
const costsByBook = new WeakMap<Book, Map<string, NetworkCosts>>()

function getCosts(book: Book, currency: Currency, now: number): NetworkCosts {
  const known = costsByBook.get(book) ?? new Map<string, NetworkCosts>()
  const costs = known.get(currency.asset.id) ?? costsOf(book, currency)
  if (costs === null || now - costs.at > FEES_MAX_AGE_MS) {
    const { id } = currency.network
    throw new AppError('NETWORK_UNAVAILABLE', `the network ${id} cannot be reached`, { extra: { network: id } })
  }
  costsByBook.set(book, known.set(currency.asset.id, costs))
  return costs
}

function costsOf(book: Book, { asset, definition, network }: Currency): NetworkCosts | null {
  const fees = book.fees.get(network.id)
  const feeUnits = fees?.payoutFeeUnits.get(asset.id)
  if (fees === undefined || feeUnits === undefined) return null
  const isNative = asset.id === fees.native.assetId
  // Rounded up, at the price that covers it.
  const networkUnits = isNative ? feeUnits : convert(feeUnits, fees.native, definition, book.prices, 'cover', 'up')
  const relayed = largest(asset.contract === null ? (network.bitcoin?.dustUnits ?? 0n) : 0n, 1n)
  return {
    at: fees.at,
    networkUnits,
    availableUnits: deliverable(book, asset.id, fees, feeUnits),
    leastPayoutUnits: largest(networkUnits, relayed),
    leastDepositUnits: largest(2n * networkUnits, networkUnits + relayed),
  }
}

/** What one payout can deliver: the reserve, less the fee that is paid from it; nothing where the gas is missing. */
function deliverable(book: Book, assetId: AssetId, fees: NetworkFees, feeUnits: bigint): bigint | null {
  const { available } = book.reserves
  const reserve = available.get(assetId)
  if (reserve === null) return null
  if (assetId === fees.native.assetId) return largest((reserve ?? 0n) - feeUnits, 0n)
  const gas = available.get(fees.native.assetId)
  return typeof gas === 'bigint' && gas < feeUnits ? 0n : (reserve ?? 0n)
}

function spreadBps(book: Book, { from, to, flow }: Pair): number {
  const { bps, fixedRateExtraBps } = book.spreads
  const worse = Math.max(bps[from.definition.assetClass], bps[to.definition.assetClass])
  return flow === 'fixed-rate' ? worse + fixedRateExtraBps : worse
}
