import type { Book, Reserves } from '../../core/domain/book.ts'
import {
  type DirectionPricing,
  limitDirection,
  type Pair,
  type PairPricing,
  priceDirection,
} from '../domain/pricing.ts'
import { publishReserves } from '../domain/published-reserves.ts'

/** Holds the current book of this process. A writer replaces the whole book, so that readers see consistent figures. */
export type BookSnapshot = Readonly<{
  current(): Book
  /** The current book with the reserves that may be shown. */
  published(): Book
  /** Replaces some parts of the book, and calls the listeners before it returns. */
  replace(part: Partial<Book>): void
  /** Prices a direction from the published book, once per book. Throws like `pricePair`. */
  price(pair: Pair, now: number): PairPricing
  /** Calls `listener` after every replacement, until the returned function is called. */
  subscribe(listener: () => void): () => void
}>

const withReserves = (book: Book, reserves: Reserves): Book => Object.freeze({ ...book, reserves })

/** Cached prices of one book: pairs × flows × partner fees. A full cache is emptied. */
const PRICINGS_MAX = 20_000

/** Without the partner, whose promises limit a fixed rate: all partners share a pricing. */
const keyOf = ({ from, to, flow, partnerFeeBps }: Pair): string =>
  `${from.asset.id} ${to.asset.id} ${flow} ${partnerFeeBps}`

export function createBookSnapshot(initial: Book): BookSnapshot {
  let book = initial
  let published = withReserves(initial, publishReserves(initial.reserves))
  const directions = new Map<string, DirectionPricing>()
  /** Of floating rates, which no partner's promises limit. */
  const floating = new WeakMap<DirectionPricing, PairPricing>()
  const listeners = new Set<() => void>()
  return {
    current: () => book,
    published: () => published,
    replace: (part) => {
      book = Object.freeze({ ...book, ...part })
      published = withReserves(book, part.reserves ? publishReserves(part.reserves) : published.reserves)
      directions.clear()
      for (const listener of listeners) listener()
    },
    price: (pair, now) => {
      const key = keyOf(pair)
      let direction = directions.get(key)
      // After `goodUntil`, pricing again throws the reason.
      if (direction === undefined || now > direction.goodUntil) {
        direction = priceDirection(published, pair, now)
        if (directions.size >= PRICINGS_MAX) directions.clear()
        directions.set(key, direction)
      }
      if (pair.flow !== 'standard' || pair.isAccepted === true) return limitDirection(published, direction, pair)
      const pricing = floating.get(direction) ?? limitDirection(published, direction, {})
      floating.set(direction, pricing)
      return pricing
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
