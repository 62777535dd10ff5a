import { assert } from '../../lib/assert.ts'
import { formatUnits, powerOfTen, type Rounding, scale } from './amount.ts'
import { AppError } from './errors.ts'

/** US dollars per whole coin, scaled by 10^12: what the market pays (`bid`) and takes (`ask`). 0 < bid ≤ ask. */
export type Price = Readonly<{ bid: bigint; ask: bigint }>

/** Reference prices of one moment: US dollars per whole coin, scaled by 10^12. */
export type PriceSnapshot = Readonly<{
  /** Milliseconds since 1970 of the oldest price in it. */
  at: number
  /** By `priceKey` of the catalogue. A key that is absent has no price now. */
  usd: ReadonlyMap<string, Price>
}>

/** What a conversion has to know of an asset. A currency's definition is one. */
export type Priced = Readonly<{ priceKey: string; decimals: number }>

/**
 * `give`: the customer gives `from` and takes `to`; `from` is worth its bid, `to` costs its ask.
 * `cover`: the house spends `from` and is made whole in `to`; `from` costs its ask, `to` is worth its bid.
 */
export type Side = 'give' | 'cover'

/** Units of `to` for one unit of `from`, as an exact fraction. Both parts are positive. */
export type Ratio = Readonly<{ numerator: bigint; denominator: bigint }>

export const USD_DECIMALS = 12

/** The price of an asset, or RATES_UNAVAILABLE where there is none. */
export function getPrice(snapshot: PriceSnapshot, priceKey: string): Price {
  const price = snapshot.usd.get(priceKey)
  if (price === undefined) throw new AppError('RATES_UNAVAILABLE', 'there is no price for this currency at the moment')
  assert(price.bid > 0n && price.ask >= price.bid, `the price of ${priceKey} is positive and not crossed`)
  return price
}

/** The exact ratio of base units at one side of the market. */
export function ratio(from: Priced, to: Priced, snapshot: PriceSnapshot, side: Side): Ratio {
  const fromPrice = getPrice(snapshot, from.priceKey)
  const toPrice = getPrice(snapshot, to.priceKey)
  const given = side === 'give' ? fromPrice.bid : fromPrice.ask
  const taken = side === 'give' ? toPrice.ask : toPrice.bid
  // Only the difference of the decimals counts: smaller numbers are faster.
  const shift = to.decimals - from.decimals
  return shift >= 0
    ? { numerator: given * powerOfTen(shift), denominator: taken }
    : { numerator: given, denominator: taken * powerOfTen(-shift) }
}

/** Units of `to` that `units` of `from` are worth. One division, at the end. */
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

/** The middle of bid and ask: for figures that are shown, never for what is paid. */
export function middle(price: Price): bigint {
  return (price.bid + price.ask) / 2n
}

/** Dollars scaled by 10^12. `usd` is a price per whole coin on the same scale. */
export function usdValue(units: bigint, asset: { decimals: number }, usd: bigint, rounding: Rounding): bigint {
  return scale(units, usd, powerOfTen(asset.decimals), rounding)
}

/** Units that are worth `usd` (scaled by 10^12) at a price on the same scale. */
export function unitsWorth(usd: bigint, asset: { decimals: number }, price: bigint, rounding: Rounding): bigint {
  return scale(usd, powerOfTen(asset.decimals), price, rounding)
}

const CENT = 10n ** 10n
const MICRODOLLAR = 10n ** 6n
const DOLLAR = 10n ** 12n

/** A dollar value scaled by 10^12 as decimal text, rounded towards zero: to cents from one dollar on, to microdollars below. */
export function formatUsd(scaled: bigint): string {
  return formatUnits(scaled - (scaled % (scaled >= DOLLAR ? CENT : MICRODOLLAR)), USD_DECIMALS)
}
