import { type BasePrice, basePrices, middlePrice } from '@swapyard/lib/price-walk.ts'

/** Tokens that exist only on the sandbox's chains. */
const sandboxOnly: Readonly<Record<string, BasePrice>> = {
  levy: { usd: '2.5', spreadBps: 10n },
  mute: { usd: '1', spreadBps: 2n, calm: 100n },
}

/** USD × 10¹² per whole coin at a second since 1970; null: the base price, while prices stand still. */
export function priceOf(key: string, second: number | null): bigint {
  const base = basePrices[key] ?? sandboxOnly[key]
  if (base === undefined) throw new Error(`the sandbox has no price of ${key}`)
  return middlePrice(key, base, second)
}
