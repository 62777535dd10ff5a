import type { Book } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { createByFour } from '../../lib/by-four.ts'
import type { Flow } from '../domain/exchange.ts'
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
  const priced = createByFour<Currency, Currency, Flow, number, PairPricing>(PRICED_MAX)
  const listeners = new Set<() => void>()
  return {
    current: () => book,
    replace: (part) => {
      book = Object.freeze({ ...book, ...part })
      priced.clear()
      for (const listener of listeners) listener()
    },
    price: (pair, now) => {
      const { from, to, flow, partnerFeeBps } = pair
      const known = priced.get(from, to, flow, partnerFeeBps)
      // Past `goodUntil` it is computed again, to fail with the reason.
      if (known !== undefined && now <= known.goodUntil) return known
      const pricing = pricePair(book, pair, now)
      priced.set(from, to, flow, partnerFeeBps, pricing)
      return pricing
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
