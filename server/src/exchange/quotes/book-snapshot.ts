import type { Book } from '../../core/domain/book.ts'
import { type Pair, type PairPricing, pricePair } from '../domain/pricing.ts'

/** Holds the current book of this process. A writer replaces the whole book, so that readers see consistent figures. */
export type BookSnapshot = Readonly<{
  current(): Book
  /** Replaces some parts of the book, and calls the listeners before it returns. */
  replace(part: Partial<Book>): void
  /** Prices a direction from the current book, once per book. Throws like `pricePair`. */
  price(pair: Pair, now: number): PairPricing
  /** Calls `listener` after every replacement, until the returned function is called. */
  subscribe(listener: () => void): () => void
}>

/** Cached prices of one book: pairs × flows × partner fees. A full cache is emptied. */
const PRICINGS_MAX = 20_000

const keyOf = ({ from, to, flow, partnerFeeBps, partnerId }: Pair): string =>
  `${from.asset.id} ${to.asset.id} ${flow} ${partnerFeeBps}${flow === 'fixed-rate' ? ` ${partnerId}` : ''}`

export function createBookSnapshot(initial: Book): BookSnapshot {
  let book = initial
  const pricings = new Map<string, PairPricing>()
  const listeners = new Set<() => void>()
  return {
    current: () => book,
    replace: (part) => {
      book = Object.freeze({ ...book, ...part })
      pricings.clear()
      for (const listener of listeners) listener()
    },
    price: (pair, now) => {
      const key = keyOf(pair)
      const cached = pricings.get(key)
      // After `goodUntil`, pricing again throws the reason.
      if (cached !== undefined && now <= cached.goodUntil) return cached
      const pricing = pricePair(book, pair, now)
      if (pricings.size >= PRICINGS_MAX) pricings.clear()
      pricings.set(key, pricing)
      return pricing
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
