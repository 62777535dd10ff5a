import { type Book, PRICES_MAX_AGE_MS, RESERVES_MAX_AGE_MS } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import { getPrice, priceTime } from '../../core/domain/price.ts'
import type { Flow } from './exchange.ts'

/** A fixed rate is a promise for minutes, so it must not begin with an old price. */
export const priceAgeMsOf = ({ fixedRates }: Book, { flow }: Readonly<{ flow: Flow }>): number =>
  flow === 'fixed-rate' ? Math.min(fixedRates.priceAgeMs, PRICES_MAX_AGE_MS) : PRICES_MAX_AGE_MS

/** The prices that amounts of these currencies need: their own, and those in which their networks take fees. */
export function priceKeysOf({ fees }: Book, currencies: readonly Currency[]): readonly string[] {
  return currencies.flatMap(({ definition, network }) => {
    const native = fees.get(network.id)?.native.priceKey ?? definition.priceKey
    return native === definition.priceKey ? [native] : [definition.priceKey, native]
  })
}

/** Whether every price that amounts of a currency need is current (I-30). */
export function hasCurrentPrices(book: Book, currency: Currency, now: number): boolean {
  return priceKeysOf(book, [currency]).every(
    (key) => book.prices.usd.has(key) && now - priceTime(book.prices, key) <= PRICES_MAX_AGE_MS,
  )
}

/** Throws RATES_UNAVAILABLE without current prices and reserves. */
export function checkFresh(
  book: Book,
  priceKeys: readonly string[],
  now: number,
  priceAgeMs = PRICES_MAX_AGE_MS,
): void {
  for (const key of priceKeys) {
    getPrice(book.prices, key)
    if (now - priceTime(book.prices, key) <= priceAgeMs) continue
    const message = `the price of ${key.toUpperCase()} is older than ${priceAgeMs / 1_000} s: retry later`
    throw new AppError('RATES_UNAVAILABLE', message)
  }
  if (now - book.reserves.at > RESERVES_MAX_AGE_MS) {
    throw new AppError('RATES_UNAVAILABLE', `the reserves are older than ${RESERVES_MAX_AGE_MS / 1_000} s: retry later`)
  }
}
