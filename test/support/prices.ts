import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import type { Prices } from '../../server/src/core/ports/prices.ts'

/** Frozen prices that a test can change. */
export type MovablePrices = Prices & Readonly<{ move(priceKey: string, percent: bigint): void }>

export function createMovablePrices(): MovablePrices {
  const still = createEmbeddedPrices({ now: Date.now, still: true })
  const percentByKey = new Map<string, bigint>()
  return {
    async read() {
      const { usd, times } = await still.read()
      const scaled = [...usd].map(([key, { bid, ask }]) => {
        const percent = 100n + (percentByKey.get(key) ?? 0n)
        return [key, { bid: (bid * percent) / 100n, ask: (ask * percent) / 100n }] as const
      })
      return { usd: new Map(scaled), times }
    },
    move: (priceKey, percent) => void percentByKey.set(priceKey, percent),
  }
}
