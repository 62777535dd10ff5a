import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { createMedianPrices } from '../../server/src/adapters/prices/median.ts'
import type { PriceSource } from '../../server/src/adapters/prices/price-source.ts'
import { pricesAt, priceTime } from '../../server/src/core/domain/price.ts'
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
      const { usd, times } = await median.read()
      reads += 1
      return { usd, times: new Map([...times].map(([key, at]) => [key, at - faulty.ageMs])) }
    },
  }
  const faultySource: Prices = {
    async read() {
      const { usd } = await still.read()
      const altered = [...usd].map(
        ([key, { bid, ask }]) => [key, { bid: faulty.falsify(bid), ask: faulty.falsify(ask) }] as const,
      )
      return pricesAt(Date.now(), new Map(altered))
    },
  }
  const sources = [still, still, faultySource].map(
    (prices, index): PriceSource => ({
      id: `source-${index}`,
      async read() {
        const snapshot = await prices.read()
        return [...snapshot.usd].map(([priceKey, price]) => {
          return { priceKey, quoteCurrency: 'usd', at: priceTime(snapshot, priceKey), price }
        })
      },
    }),
  )
  const median = createMedianPrices({ sources, quorum: 2, now: Date.now })
  return faulty
}
