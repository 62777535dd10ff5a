import type { Book } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { BookSnapshot } from './book-snapshot.ts'

type Dependencies = Readonly<{ currencies: readonly Currency[]; books: BookSnapshot }>

/** The catalogue by rank. A pause or a missing price sets `enabled` to false at once. */
export function createListCurrencies({ currencies, books }: Dependencies): ExchangeServices['listCurrencies'] {
  const ranked = currencies.toSorted((a, b) => a.definition.rank - b.definition.rank)
  let listed: { book: Book; currencies: readonly Currency[] } | null = null
  return () => {
    const book = books.current()
    if (listed?.book !== book) listed = { book, currencies: ranked.map((currency) => applyBook(book, currency)) }
    return listed.currencies
  }
}

function applyBook(book: Book, currency: Currency): Currency {
  const { asset, network, definition } = currency
  const isOpen = !book.pauses.networks.has(network.id) && !book.pauses.assets.has(asset.id)
  const enabled = currency.enabled && isOpen && book.prices.usd.has(definition.priceKey)
  return enabled === currency.enabled ? currency : { ...currency, enabled }
}
