import type { Book } from '../domain/book.ts'
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

/** Directions × partners' fees that are kept; beyond it, all are computed anew. */
const PRICED_MAX = 20_000

export function createBookSnapshot(initial: Book): BookSnapshot {
  let book = initial
  let priced = new Map<string, PairPricing>()
  const listeners = new Set<() => void>()
  return {
    current: () => book,
    replace: (part) => {
      book = Object.freeze({ ...book, ...part })
      priced = new Map()
      for (const listener of listeners) listener()
    },
    price: (pair, now) => {
      const key = `${pair.from.asset.id}>${pair.to.asset.id}>${pair.flow}>${pair.partnerFeeBps}`
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
