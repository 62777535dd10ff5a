import type { Currency } from '../../core/domain/currency.ts'
import { formatUsd, midPrice } from '../../core/domain/price.ts'
import { isOffPeg } from '../domain/pricing.ts'
import type { Store } from '../ports/store/store.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'

type WatchPegsDeps = Readonly<{
  store: Pick<Store, 'alarms'>
  books: Pick<BookSnapshot, 'current'>
  currencies: readonly Currency[]
}>

/** Raises an alarm per stablecoin that is not quoted because its price is outside of its band. */
export function createWatchPegs({ store, books, currencies }: WatchPegsDeps) {
  const pegged = [...new Map(currencies.map(({ definition }) => [definition.priceKey, definition])).values()]
  return async function watchPegs(): Promise<void> {
    const book = books.current()
    const off = pegged.filter((definition) => isOffPeg(book, definition)).map(({ priceKey }) => priceKey)
    for (const priceKey of off) {
      const price = book.prices.usd.get(priceKey)
      await store.alarms.raise(`peg:${priceKey}`, 'a stablecoin is too far from one dollar: it is not quoted', {
        usd: price === undefined ? null : formatUsd(midPrice(price)),
      })
    }
    // Without a price nothing says that the peg is back.
    const unknown = pegged.filter(({ priceKey }) => !book.prices.usd.has(priceKey)).map(({ priceKey }) => priceKey)
    await store.alarms.clearOthers('peg:', [...off, ...unknown])
  }
}
