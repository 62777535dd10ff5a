import { assert } from '../../lib/assert.ts'
import { formatUnits, powerOfTen, type Rounding, scale } from './amount.ts'
import { AppError } from './errors.ts'

/** US dollars per whole unit of a currency (1 BTC), scaled by 10^12. 0 < bid ≤ ask. */
export type Price = Readonly<{ bid: bigint; ask: bigint }>

/** Reference prices, each with its own time: one that is old ages no other. Both maps are by the catalogue's `priceKey`. */
export type PriceSnapshot = Readonly<{
  /** An absent key has no current price. */
  usd: ReadonlyMap<string, Price>
  /** Milliseconds since 1970. */
  times: ReadonlyMap<string, number>
}>

/** What a conversion needs of an asset. `CurrencyDefinition` satisfies it. */
export type Priced = Readonly<{ priceKey: string; decimals: number }>

/**
 * `give`: the customer sells `from` and buys `to`: `from` at its bid, `to` at its ask.
 * `cover`: we spend `from` and charge its cost in `to`: `from` at its ask, `to` at its bid.
 */
export type Side = 'give' | 'cover'

/** Units of `to` for one unit of `from`, as an exact fraction. Both parts are positive. */
export type Ratio = Readonly<{ numerator: bigint; denominator: bigint }>

export const USD_DECIMALS = 12

/** Prices that all have the same time. */
export function pricesAt(at: number, usd: ReadonlyMap<string, Price>): PriceSnapshot {
  return { usd, times: new Map([...usd.keys()].map((key) => [key, at])) }
}

/** The time of a price in milliseconds since 1970; 0 for a price without one, which is then too old. */
export function priceTime({ times }: Pick<PriceSnapshot, 'times'>, priceKey: string): number {
  return times.get(priceKey) ?? 0
}

/** The time of the oldest price; 0 without prices. */
export function oldestTime({ times }: Pick<PriceSnapshot, 'times'>): number {
  return times.size === 0 ? 0 : Math.min(...times.values())
}

/** `next`, but of each key the newer price: reads may overlap, and the sources of a price change. */
export function newerPrices(last: PriceSnapshot, next: PriceSnapshot): PriceSnapshot {
  const usd = new Map(next.usd)
  const times = new Map(next.times)
  for (const key of next.usd.keys()) {
    const price = last.usd.get(key)
    const at = priceTime(last, key)
    if (price === undefined || at <= priceTime(next, key)) continue
    usd.set(key, price)
    times.set(key, at)
  }
  return { usd, times }
}

/** Throws RATES_UNAVAILABLE if there is no price. */
export function getPrice(snapshot: PriceSnapshot, priceKey: string): Price {
  const price = snapshot.usd.get(priceKey)
  if (price === undefined) {
    throw new AppError('RATES_UNAVAILABLE', `no current price for ${priceKey.toUpperCase()}: retry later`)
  }
  assert(price.bid > 0n && price.ask >= price.bid, `the price of ${priceKey} is positive and not crossed`)
  return price
}

/** The exact exchange ratio in units. */
export function ratio(from: Priced, to: Priced, snapshot: PriceSnapshot, side: Side): Ratio {
  const fromPrice = getPrice(snapshot, from.priceKey)
  const toPrice = getPrice(snapshot, to.priceKey)
  const fromUsd = side === 'give' ? fromPrice.bid : fromPrice.ask
  const toUsd = side === 'give' ? toPrice.ask : toPrice.bid
  // Only the difference of the decimals matters: smaller numbers are faster.
  const shift = to.decimals - from.decimals
  return shift >= 0
    ? { numerator: fromUsd * powerOfTen(shift), denominator: toUsd }
    : { numerator: fromUsd, denominator: toUsd * powerOfTen(-shift) }
}

/** Value of `units` of `from` in units of `to`. One division, at the end, so it rounds once. */
export function convert(
  units: bigint,
  from: Priced,
  to: Priced,
  snapshot: PriceSnapshot,
  side: Side,
  rounding: Rounding,
): bigint {
  const { numerator, denominator } = ratio(from, to, snapshot, side)
  return scale(units, numerator, denominator, rounding)
}

/** Mean of bid and ask: for displayed figures, never for payments. */
export function midPrice(price: Price): bigint {
  return (price.bid + price.ask) / 2n
}

/** Dollar value scaled by 10^12. `usd` is a price on the same scale. */
export function usdValue(units: bigint, asset: { decimals: number }, usd: bigint, rounding: Rounding): bigint {
  return scale(units, usd, powerOfTen(asset.decimals), rounding)
}

/** Units that are worth `usd` at `price`, both scaled by 10^12. */
export function unitsWorth(usd: bigint, asset: { decimals: number }, price: bigint, rounding: Rounding): bigint {
  return scale(usd, powerOfTen(asset.decimals), price, rounding)
}

const CENT = 10n ** 10n
const MICRODOLLAR = 10n ** 6n
export const ONE_USD = 10n ** 12n

/** Decimal text of a dollar value scaled by 10^12, rounded down: to cents from one dollar on, to microdollars below. */
export function formatUsd(scaled: bigint): string {
  return formatUnits(scaled - (scaled % (scaled >= ONE_USD ? CENT : MICRODOLLAR)), USD_DECIMALS)
}
