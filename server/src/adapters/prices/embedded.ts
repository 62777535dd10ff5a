import { type BasePrice, basePrices, middlePrice } from '@swapyard/lib/price-walk.ts'
import { type Price, type PriceSnapshot, pricesAt } from '../../core/domain/price.ts'
import type { Prices } from '../../core/ports/prices.ts'
import { largest } from '../../lib/bigint.ts'

type Options = Readonly<{
  /** Milliseconds since 1970. */
  now(): number
  /** Prices stay at their base. */
  still: boolean
  /** Prices that the sandbox's controls fixed, in US dollars × 10^12 by price key. Absent: none. */
  readFixed?(): Promise<ReadonlyMap<string, bigint>>
}>

/**
 * The sandbox's own prices: a smooth walk within a few percent of a base price, a new price every second. They depend on
 * the time and the controls only, so that several processes agree and nothing is stored.
 */
export function createEmbeddedPrices({ now, still, readFixed }: Options): Prices {
  return {
    read: async (): Promise<PriceSnapshot> => {
      const fixed = await readFixed?.()
      const at = now()
      const second = Math.floor(at / 1_000)
      const usd = new Map(
        Object.entries(basePrices).map(([key, base]) => [
          key,
          toPrice(base, fixed?.get(key) ?? middlePrice(key, base, still ? null : second)),
        ]),
      )
      return pricesAt(at, usd)
    },
  }
}

function toPrice(base: BasePrice, middle: bigint): Price {
  // At least 1 on each side, so that bid is below ask for the cheapest currency.
  const half = (middle * base.spreadBps) / 20_000n + 1n
  return { bid: largest(middle - half, 1n), ask: middle + half }
}
