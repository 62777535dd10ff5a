import { type Book, FEES_MAX_AGE_MS, PRICES_MAX_AGE_MS, RESERVES_MAX_AGE_MS } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { BookSnapshot } from './book-snapshot.ts'

export type Readiness = Readonly<{
  currencies: readonly Currency[]
  /** Networks that the house has a chain for. */
  networks: readonly string[]
  books: Pick<BookSnapshot, 'current' | 'price'>
  now: number
}>

/** Why quotes or creates would fail now. A sandbox or a house without coins is not ready: it has nothing to pay out. */
export function readiness({ currencies, networks, books, now }: Readiness): readonly string[] {
  const book = books.current()
  const reasons: string[] = []
  if (now - book.prices.at > PRICES_MAX_AGE_MS) reasons.push('there are no current prices')
  if (now - book.reserves.at > RESERVES_MAX_AGE_MS) reasons.push('the reserves are not known')
  const needed = Math.min(networks.length, 2)
  const stocked = currencies.filter(
    ({ asset }) => networks.includes(asset.network) && (book.reserves.available.get(asset.id) ?? 0n) > 0n,
  )
  if (countNetworks(stocked) < needed) reasons.push('the hot wallets are empty: bring coins to their addresses')
  else if (reasons.length === 0 && !isQuoted(stocked, book, books, now, needed))
    reasons.push('nothing can be quoted: no network answers, or all of them stand still')
  return reasons
}

const countNetworks = (currencies: readonly Currency[]): number =>
  new Set(currencies.map(({ network }) => network.id)).size

/** Whether one direction has a price: between two networks, or within the only one that there is. */
function isQuoted(
  stocked: readonly Currency[],
  book: Book,
  books: Pick<BookSnapshot, 'price'>,
  now: number,
  networks: number,
): boolean {
  const answering = stocked.filter(({ asset }) => now - (book.fees.get(asset.network)?.at ?? 0) <= FEES_MAX_AGE_MS)
  if (countNetworks(answering) < networks) return false
  return answering.some((from) =>
    answering.some((to) => {
      const isDirection = networks > 1 ? from.network.id !== to.network.id : from.asset.id !== to.asset.id
      return isDirection && hasPrice(books, from, to, now)
    }),
  )
}

function hasPrice(books: Pick<BookSnapshot, 'price'>, from: Currency, to: Currency, now: number): boolean {
  try {
    books.price({ from, to, flow: 'standard', partnerFeeBps: 0 }, now)
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
