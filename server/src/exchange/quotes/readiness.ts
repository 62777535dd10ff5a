import { type Book, FEES_MAX_AGE_MS, PRICES_MAX_AGE_MS, RESERVES_MAX_AGE_MS } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { BookSnapshot } from './book-snapshot.ts'

export type Readiness = Readonly<{
  currencies: readonly Currency[]
  /** Networks with a chain adapter. */
  networks: readonly string[]
  books: Pick<BookSnapshot, 'current' | 'price'>
  now: number
}>

/** Reasons why quotes or creates would fail now; empty = ready. Without funds in the hot wallets, the app is not ready. */
export function readiness({ currencies, networks, books, now }: Readiness): readonly string[] {
  const book = books.current()
  const reasons: string[] = []
  if (now - book.prices.at > PRICES_MAX_AGE_MS) reasons.push('prices are out of date')
  if (now - book.reserves.at > RESERVES_MAX_AGE_MS) reasons.push('reserves are out of date')
  const neededNetworks = Math.min(networks.length, 2)
  const funded = currencies.filter(
    ({ asset }) => networks.includes(asset.network) && (book.reserves.available.get(asset.id) ?? 0n) > 0n,
  )
  if (countNetworks(funded) < neededNetworks)
    reasons.push(`fewer than ${neededNetworks} networks have funds: send funds to the hot wallet addresses`)
  else if (reasons.length === 0 && !canQuote(funded, book, books, now, neededNetworks))
    reasons.push('no pair can be quoted: networks are paused, or their nodes do not answer')
  return reasons
}

const countNetworks = (currencies: readonly Currency[]): number =>
  new Set(currencies.map(({ network }) => network.id)).size

/** Whether any direction can be priced: between two networks, or within one if there is only one. */
function canQuote(
  funded: readonly Currency[],
  book: Book,
  books: Pick<BookSnapshot, 'price'>,
  now: number,
  networks: number,
): boolean {
  const reachable = funded.filter(({ asset }) => now - (book.fees.get(asset.network)?.at ?? 0) <= FEES_MAX_AGE_MS)
  if (countNetworks(reachable) < networks) return false
  return reachable.some((from) =>
    reachable.some((to) => {
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
