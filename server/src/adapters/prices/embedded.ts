import { type BasePrice, basePrices, middlePrice } from '@swapyard/lib/price-walk.ts'
import type { Price, PriceSnapshot } from '../../core/domain/price.ts'
import type { Prices } from '../../core/ports/prices.ts'

type Options = Readonly<{
  /** Milliseconds since 1970. */
  now(): number
  /** Prices stay at their base. */
  still: boolean
}>

/**
 * The sandbox's own prices: a smooth walk within a few percent of a base price, a new price every second. They depend on
 * the time only, so that several processes agree and nothing is stored.
 */
export function createEmbeddedPrices({ now, still }: Options): Prices {
  return {
    read: async (): Promise<PriceSnapshot> => {
      const at = now()
      const second = Math.floor(at / 1_000)
      const usd = new Map(
        Object.entries(basePrices).map(([key, base]) => [key, priceAt(key, base, still ? null : second)]),
      )
      return { at, usd }
    },
  }
}

function priceAt(key: string, base: BasePrice, second: number | null): Price {
  const middle = middlePrice(key, base, second)
  // At least 1 on each side, so that bid is below ask for the cheapest currency.
  const half = (middle * base.spreadBps) / 20_000n + 1n
  return { bid: middle - half, ask: middle + half }
}
