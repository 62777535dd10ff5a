import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { createMedianPrices } from '../../server/src/adapters/prices/median.ts'
import type { PriceSource } from '../../server/src/adapters/prices/price-source.ts'
import type { Prices } from '../../server/src/core/ports/prices.ts'

/** The price of three sources, as in production. A test can falsify the third source and age all of them. */
export type FaultyPrices = Prices & {
  /** Changes every price of the third source. */
  falsify: (units: bigint) => bigint
  ageMs: number
  /** Number of reads. */
  readonly reads: number
}

export function createFaultyPrices(): FaultyPrices {
  const still = createEmbeddedPrices({ now: Date.now, still: true })
  let reads = 0
  const faulty: FaultyPrices = {
    falsify: (units) => units,
    ageMs: 0,
    get reads() {
      return reads
    },
    async read() {
      const { at, usd } = await median.read()
      reads += 1
      return { at: at - faulty.ageMs, usd }
    },
  }
  const faultySource: Prices = {
    async read() {
      const { at, usd } = await still.read()
      const altered = [...usd].map(
        ([key, { bid, ask }]) => [key, { bid: faulty.falsify(bid), ask: faulty.falsify(ask) }] as const,
      )
      return { at, usd: new Map(altered) }
    },
  }
  const sources = [still, still, faultySource].map(
    (prices, index): PriceSource => ({
      id: `source-${index}`,
      async read() {
        const { at, usd } = await prices.read()
        return [...usd].map(([priceKey, price]) => ({ priceKey, quoteCurrency: 'usd', at, price }))
      },
    }),
  )
  const median = createMedianPrices({ sources, quorum: 2, now: Date.now })
  return faulty
}
