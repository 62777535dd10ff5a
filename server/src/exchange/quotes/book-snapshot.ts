import type { Book } from '../../core/domain/book.ts'
import { type Pair, type PairPricing, pricePair } from '../domain/pricing.ts'

/** Holds the current book of this process. Readers take it whole; writers replace it whole. */
export type BookSnapshot = Readonly<{
  current(): Book
  /** The current book with some of its parts exchanged. Listeners are called before it returns. */
  replace(part: Partial<Book>): void
  /** The direction as the current book prices it, computed once per book. Throws as `pricePair` does. */
  price(pair: Pair, now: number): PairPricing
  /** Calls back after every replacement, until the returned function is called. */
  subscribe(listener: () => void): () => void
}>

/** Cached prices of one book: pairs × flows × partner fees. A full cache is emptied. */
const PRICED_MAX = 20_000

const keyOf = ({ from, to, flow, partnerFeeBps }: Pair): string =>
  `${from.asset.id} ${to.asset.id} ${flow} ${partnerFeeBps}`

export function createBookSnapshot(initial: Book): BookSnapshot {
  let book = initial
  const priced = new Map<string, PairPricing>()
  const listeners = new Set<() => void>()
  return {
    current: () => book,
    replace: (part) => {
      book = Object.freeze({ ...book, ...part })
      priced.clear()
      for (const listener of listeners) listener()
    },
    price: (pair, now) => {
      const key = keyOf(pair)
      const known = priced.get(key)
      // Past `goodUntil` it is computed again, to fail with the reason.
      if (known !== undefined && now <= known.goodUntil) return known
      const pricing = pricePair(book, pair, now)
      if (priced.size >= PRICED_MAX) priced.clear()
      priced.set(key, pricing)
      return pricing
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
