import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { createMedianPrices } from '../../server/src/adapters/prices/median.ts'
import type { Prices } from '../../server/src/core/ports/prices.ts'

/** The median of three sources, the way production has it. One of them lies on demand, and all can be old. */
export type FaultyPrices = Prices & {
  /** What the third source makes of every price. */
  lie: (units: bigint) => bigint
  ageMs: number
  /** How often they were read. */
  readonly reads: number
}

export function createFaultyPrices(): FaultyPrices {
  const still = createEmbeddedPrices({ now: Date.now, still: true })
  let reads = 0
  const faulty: FaultyPrices = {
    lie: (units) => units,
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
  const liar: Prices = {
    async read() {
      const { at, usd } = await still.read()
      const altered = [...usd].map(
        ([key, { bid, ask }]) => [key, { bid: faulty.lie(bid), ask: faulty.lie(ask) }] as const,
      )
      return { at, usd: new Map(altered) }
    },
  }
  const sources = [still, still, liar].map((prices, at) => ({ id: `source-${at}`, prices }))
  const median = createMedianPrices({ sources, quorum: 2, now: Date.now })
  return faulty
}
