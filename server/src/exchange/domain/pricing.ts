import { BPS, scale, toSignificant } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import { type Book, FEES_MAX_AGE_MS, type NetworkFees, RESERVES_MAX_AGE_MS } from '../../core/domain/book.ts'
import type { Currency, CurrencyDefinition } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import {
  convert,
  getPrice,
  midPrice,
  ONE_USD,
  priceTime,
  type Ratio,
  ratio,
  usdValue,
} from '../../core/domain/price.ts'
import { assert } from '../../lib/assert.ts'
import { absolute, largest, smallest } from '../../lib/bigint.ts'
import type { Flow } from './exchange.ts'
import { fixedReserveLeft } from './fixed-reserve.ts'
import { checkFresh, priceAgeMsOf, priceKeysOf } from './price-age.ts'
import type { RateQuote } from './rate-quote.ts'

export type Pair = Readonly<{
  from: Currency
  to: Currency
  flow: Flow
  partnerFeeBps: number
  /** Whose share of the reserve limits a fixed rate. Absent: a partner without promises. */
  partnerId?: string
  /** A deposit within the maximum that its create accepted: the reserve is its limit, and no limit of payouts. */
  isAccepted?: boolean
}>

/** A direction priced from one book: the parts that all its quotes share. */
export type PairPricing = Readonly<{
  pair: Pair
  /** Units of `to` per unit of `from`, before fees: `from` at its bid, `to` at its ask. */
  rate: Ratio
  serviceBps: bigint
  partnerBps: bigint
  /** Network costs of both sides, in units of `to`: the payout's fee, and what bringing the deposit to the hot wallet costs. */
  networkUnits: bigint
  /** Part of `networkUnits`: the fee of one payment of `to`. */
  payoutUnits: bigint
  /** Units of `to` that one payout can deliver now; null = unlimited. */
  availableUnits: bigint | null
  minUnits: bigint
  maxUnits: bigint | null
  /** Mid prices in dollars scaled by 10^12, for displayed figures. */
  fromPrice: bigint
  toPrice: bigint
  /** Milliseconds since 1970 after which one of its sources is too old. */
  goodUntil: number
}>

/** A direction without the limits that depend on the partner or the exchange: what fixed rates of all partners share. */
export type DirectionPricing = Omit<PairPricing, 'availableUnits' | 'maxUnits'> &
  Readonly<{
    /** The reserve, before what unpaid fixed-rate promises hold. */
    reserveUnits: bigint | null
  }>

/** `min` is rounded up to this many digits: readable, and stable across small price changes. */
const MIN_DIGITS = 3

/**
 * Prices a direction, or throws why it cannot be exchanged now. Pure, so the result can be cached with the book. `ownUnits`:
 * what is reserved for the exchange in question, which is available to it.
 */
export function pricePair(book: Book, pair: Pair, now: number, ownUnits = 0n): PairPricing {
  return limitDirection(book, priceDirection(book, pair, now), pair, ownUnits)
}

/** The part of `pricePair` that no partner changes. */
export function priceDirection(book: Book, pair: Pair, now: number): DirectionPricing {
  const { from, to } = pair
  checkOpen(book, pair)
  const priceAgeMs = priceAgeMsOf(book, pair)
  const priceKeys = priceKeysOf(book, [from, to])
  checkFresh(book, priceKeys, now, priceAgeMs)
  checkPegs(book, [from, to])
  const fromCosts = getCosts(book, from, now)
  const toCosts = getCosts(book, to, now)
  const rate = ratio(from.definition, to.definition, book.prices, 'give')
  const serviceBps = BigInt(spreadBps(book, pair))
  const partnerBps = BigInt(pair.partnerFeeBps)
  assert(
    serviceBps >= 0n && serviceBps < BPS && partnerBps >= 0n && partnerBps < BPS,
    'a fee is at least 0 % and below 100 %',
  )

  const networkUnits = toCosts.networkUnits + depositCost(book, from, to)
  const costs = { rate, serviceBps, partnerBps, networkUnits }
  const exactMin = largest(minInputFor(costs, largest(networkUnits, toCosts.minPayoutUnits)), fromCosts.minDepositUnits)
  const minUnits = toSignificant(exactMin, 'up', MIN_DIGITS)
  return {
    pair: { from, to, flow: pair.flow, partnerFeeBps: pair.partnerFeeBps },
    ...costs,
    payoutUnits: toCosts.networkUnits,
    reserveUnits: toCosts.availableUnits,
    minUnits,
    fromPrice: midPrice(getPrice(book.prices, from.definition.priceKey)),
    toPrice: midPrice(getPrice(book.prices, to.definition.priceKey)),
    goodUntil: Math.min(
      ...priceKeys.map((key) => priceTime(book.prices, key) + priceAgeMs),
      book.reserves.at + RESERVES_MAX_AGE_MS,
      fromCosts.at + FEES_MAX_AGE_MS,
      toCosts.at + FEES_MAX_AGE_MS,
    ),
  }
}

/** The limits of one partner, or of an exchange with a reserve of its own. Throws if they leave less than the minimum. */
export function limitDirection(
  book: Book,
  direction: DirectionPricing,
  { partnerId, isAccepted = false }: Pick<Pair, 'partnerId' | 'isAccepted'>,
  ownUnits = 0n,
): PairPricing {
  const { reserveUnits, ...rest } = direction
  const pair: Pair = { ...direction.pair, ...(partnerId === undefined ? {} : { partnerId }) }
  const payableUnits = limitFixed(book, pair, addUnits(reserveUnits, ownUnits))
  const availableUnits = isAccepted ? payableUnits : limitPromised(book, pair, payableUnits)
  const maxUnits = availableUnits === null ? null : toSignificant(maxInputFor(rest, availableUnits), 'down')
  if (maxUnits !== null && maxUnits < rest.minUnits) {
    throw new AppError(
      'INSUFFICIENT_LIQUIDITY',
      `the reserve of ${nameOf(pair.to)} does not cover the minimum amount: choose another currency or retry later`,
    )
  }
  return { ...rest, pair, availableUnits, maxUnits }
}

/**
 * The estimate for an amount. Both amounts are rounded down to 15 significant digits, so that they are exact as JSON
 * numbers; the remainder is part of the service fee. A larger input never gives a smaller output.
 */
export function quoteUnits(pricing: PairPricing, requestedUnits: bigint): RateQuote {
  assert(requestedUnits > 0n, 'a quoted amount is positive')
  const { pair, rate, minUnits, maxUnits } = pricing
  const fromUnits = toSignificant(requestedUnits, 'down')
  const grossUnits = scale(fromUnits, rate.numerator, rate.denominator, 'down')
  const afterService = lessFee(grossUnits, pricing.serviceBps)
  const afterPartner = lessFee(afterService, pricing.partnerBps)
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
    ...boundOutputsOf(pricing),
    fromUsd: usdValue(fromUnits, pair.from.asset, pricing.fromPrice, 'down'),
    toUsd: usdValue(toUnits, pair.to.asset, pricing.toPrice, 'down'),
    fees: {
      serviceUnits: grossUnits - partnerUnits - networkUnits - toUnits,
      partnerUnits,
      networkUnits,
      payoutUnits: smallest(pricing.payoutUnits, networkUnits),
    },
    withinBounds: fromUnits >= minUnits && (maxUnits === null || fromUnits <= maxUnits),
  }
}

/**
 * Costs of converting an intermediary back into the source asset for a return leg. Works also while either side is paused or
 * disabled, because it is no new exchange, and without fee rates of the intermediary's network.
 */
export function priceReturn(book: Book, from: Currency, to: Currency, now: number): Costs {
  checkFresh(book, priceKeysOf(book, [from, to]), now)
  checkPegs(book, [from, to])
  return {
    rate: ratio(from.definition, to.definition, book.prices, 'give'),
    serviceBps: BigInt(spreadBps(book, { from, to, flow: 'standard', partnerFeeBps: 0 })),
    partnerBps: 0n,
    networkUnits: getCosts(book, to, now).networkUnits,
  }
}

/**
 * Cost of one payout or refund of a currency now, in units of that currency. The native currency needs no price for this,
 * so its refunds do not wait for prices.
 */
export function payoutFeeIn(book: Book, currency: Currency, now: number): bigint {
  if (currency.asset.contract !== null) checkFresh(book, priceKeysOf(book, [currency]), now)
  return getCosts(book, currency, now).networkUnits
}

export type Costs = Pick<PairPricing, 'rate' | 'serviceBps' | 'partnerBps' | 'networkUnits'>

/** Output for `fromUnits` after the spread and the partner's fee, before the payout's network fee. */
export function beforeNetworkFee(costs: Costs, fromUnits: bigint): bigint {
  const gross = scale(fromUnits, costs.rate.numerator, costs.rate.denominator, 'down')
  return lessFee(lessFee(gross, costs.serviceBps), costs.partnerBps)
}

/** Output for `fromUnits` after all fees, not rounded to significant digits. */
export function afterNetworkFee(costs: Costs, fromUnits: bigint): bigint {
  return largest(beforeNetworkFee(costs, fromUnits) - costs.networkUnits, 0n)
}

/** The output that a quote of `fromUnits` states: 15 significant digits. */
export function payoutUnits(costs: Costs, fromUnits: bigint): bigint {
  return toSignificant(afterNetworkFee(costs, fromUnits), 'down')
}

type BoundOutputs = Pick<RateQuote, 'minToUnits' | 'maxToUnits'>

/** Pricings are immutable, and the quotes of one share what its bounds give. */
const outputsByPricing = new WeakMap<PairPricing, BoundOutputs>()

function boundOutputsOf(pricing: PairPricing): BoundOutputs {
  const { minUnits, maxUnits } = pricing
  const outputs = outputsByPricing.get(pricing) ?? {
    minToUnits: payoutUnits(pricing, minUnits),
    maxToUnits: maxUnits === null ? null : payoutUnits(pricing, maxUnits),
  }
  outputsByPricing.set(pricing, outputs)
  return outputs
}

/** The smallest input with an output of at least `toUnits`. Exact: it inverts each floor(x × n ÷ d) step. */
export function minInputFor(costs: Costs, toUnits: bigint): bigint {
  if (toUnits <= 0n) return 0n
  const afterService = scale(toUnits + costs.networkUnits, BPS, BPS - costs.partnerBps, 'up')
  const gross = scale(afterService, BPS, BPS - costs.serviceBps, 'up')
  return scale(gross, costs.rate.denominator, costs.rate.numerator, 'up')
}

/**
 * The smallest input whose quote states at least `toUnits`. A quote rounds both amounts down to 15 digits, so both are rounded
 * up here: the next smaller input that a quote can state gives less.
 */
export function quotedInputFor(costs: Costs, toUnits: bigint): bigint {
  return toSignificant(minInputFor(costs, toSignificant(toUnits, 'up')), 'up')
}

/** The largest input with an output of at most `toUnits`. */
export function maxInputFor(costs: Costs, toUnits: bigint): bigint {
  return minInputFor(costs, toUnits + 1n) - 1n
}

/** `units` less a fee that is rounded up. */
function lessFee(units: bigint, feeBps: bigint): bigint {
  return feeBps === 0n ? units : (units * (BPS - feeBps)) / BPS
}

function checkOpen(book: Book, { from, to, flow }: Pair): void {
  if (from.asset.id === to.asset.id) {
    const message = `fromCurrency and toCurrency are both ${nameOf(from)}: choose two different currencies`
    throw new AppError('SAME_CURRENCY', message, { field: 'toCurrency' })
  }
  for (const [field, currency] of [
    ['fromCurrency', from],
    ['toCurrency', to],
  ] as const) {
    const { enabled, asset, network } = currency
    if (!enabled || book.pauses.assets.has(asset.id)) {
      const message = `${nameOf(currency)} is not available: choose a currency with enabled: true`
      throw new AppError('PAIR_UNAVAILABLE', message, { field })
    }
    if (book.pauses.networks.has(network.id)) {
      const message = `the network ${network.id} is paused: retry later`
      throw new AppError('NETWORK_PAUSED', message, { extra: { network: network.id } })
    }
  }
  const floatingOnly = [from, to].find(({ definition }) => !definition.supportsFixedRate)
  if (flow === 'fixed-rate' && floatingOnly) {
    const message = `${nameOf(floatingOnly)} has no fixed rate: use the flow standard`
    throw new AppError('FIXED_RATE_UNSUPPORTED', message, { field: 'flow' })
  }
}

/** A currency in a message: "BTC on btc". */
const nameOf = ({ asset }: Currency): string => `${asset.ticker.toUpperCase()} on ${asset.network}`

const addUnits = (units: bigint | null, more: bigint): bigint | null => (units === null ? null : units + more)

function limitFixed(
  { reserves, fixedRates }: Book,
  { to, flow, partnerId = '' }: Pair,
  units: bigint | null,
): bigint | null {
  const stock = flow === 'fixed-rate' ? reserves.fixed?.get(to.asset.id) : undefined
  if (stock === undefined || units === null) return units
  const heldByPartnerUnits = stock.heldByPartner.get(partnerId) ?? 0n
  return smallest(units, fixedReserveLeft({ ...stock, heldByPartnerUnits }, fixedRates))
}

function limitPromised({ reserves: { promised } }: Book, { to }: Pair, units: bigint | null): bigint | null {
  if (promised === undefined) return units
  const mostUnits = promised.get(to.asset.id) ?? 0n
  return units === null ? mostUnits : smallest(units, mostUnits)
}

/** Whether a coin that is pegged to the US dollar has a price outside of the band around it (M20). */
export function isOffPeg(
  { prices, stableBandPercent }: Book,
  { isPeggedToUsd, priceKey }: CurrencyDefinition,
): boolean {
  const price = isPeggedToUsd ? prices.usd.get(priceKey) : undefined
  return price !== undefined && absolute(midPrice(price) - ONE_USD) * 100n > ONE_USD * BigInt(stableBandPercent)
}

/** Its price may be wrong, or about to fall further: what is in flight waits, and nothing new begins. */
function checkPegs(book: Book, currencies: readonly Currency[]): void {
  const off = currencies.find(({ definition }) => isOffPeg(book, definition))
  if (off !== undefined)
    throw new AppError('RATES_UNAVAILABLE', `the price of ${nameOf(off)} is too far from one dollar: retry later`)
}

/** Network costs of one currency, in its units. All its directions share them. */
type NetworkCosts = Readonly<{
  /** Milliseconds since 1970 at which the fee rate was read. */
  at: number
  networkUnits: bigint
  availableUnits: bigint | null
  /** At least the network fee, and at least an output that nodes relay. */
  minPayoutUnits: bigint
  /** Enough for a refund: twice its fee, and an output that nodes relay. */
  minDepositUnits: bigint
}>

/** Books are immutable, so derived costs can be cached by book. */
const costsByBook = new WeakMap<Book, Map<string, NetworkCosts>>()

function getCosts(book: Book, currency: Currency, now: number): NetworkCosts {
  const cache = costsByBook.get(book) ?? new Map<string, NetworkCosts>()
  const costs = cache.get(currency.asset.id) ?? costsOf(book, currency)
  if (costs === null || now - costs.at > FEES_MAX_AGE_MS) {
    const { id } = currency.network
    throw new AppError('NETWORK_UNAVAILABLE', `the network ${id} does not answer: retry later`, {
      extra: { network: id },
    })
  }
  costsByBook.set(book, cache.set(currency.asset.id, costs))
  return costs
}

function costsOf(book: Book, { asset, definition, network }: Currency): NetworkCosts | null {
  const fees = book.fees.get(network.id)
  const feeUnits = fees?.payoutFeeUnits.get(asset.id)
  if (fees === undefined || feeUnits === undefined) return null
  const isNative = asset.id === fees.native.assetId
  // Rounded up, at the price that covers the cost.
  const networkUnits = isNative ? feeUnits : convert(feeUnits, fees.native, definition, book.prices, 'cover', 'up')
  const minOutput = largest(asset.contract === null ? (network.bitcoin?.dustUnits ?? 0n) : 0n, 1n)
  return {
    at: fees.at,
    networkUnits,
    availableUnits: payableUnits(book, asset.id, fees, feeUnits),
    minPayoutUnits: largest(networkUnits, minOutput),
    minDepositUnits: largest(2n * networkUnits, networkUnits + minOutput),
  }
}

/** What the deposit costs us before it can pay out, in units of `to`, rounded up. */
function depositCost(book: Book, from: Currency, to: Currency): bigint {
  const fees = book.fees.get(from.network.id)
  const feeUnits = fees?.depositFeeUnits?.get(from.asset.id) ?? 0n
  if (fees === undefined || feeUnits === 0n) return 0n
  return fees.native.assetId === to.asset.id
    ? feeUnits
    : convert(feeUnits, fees.native, to.definition, book.prices, 'cover', 'up')
}

/** Units that one payout can deliver: the reserve less the fee paid from it; for a token, zero without gas. */
function payableUnits(book: Book, assetId: AssetId, fees: NetworkFees, feeUnits: bigint): bigint | null {
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
