import { type BasePrice, basePrices, middlePrice } from '@swapyard/lib/price-walk.ts'

/** Test tokens; no real token has these tickers here. */
const testTokens: Readonly<Record<string, BasePrice>> = {
  levy: { usd: '2.5', spreadBps: 10n },
  meme: { usd: '0.02', spreadBps: 10n },
  tick: { usd: '1.5', spreadBps: 10n },
  bins: { usd: '0.5', spreadBps: 10n },
  span: { usd: '0.25', spreadBps: 10n },
  four: { usd: '2', spreadBps: 10n },
  pair: { usd: '4', spreadBps: 10n },
  cent: { usd: '0.8', spreadBps: 10n },
  coin: { usd: '0.001', spreadBps: 10n },
  ward: { usd: '3', spreadBps: 10n },
  mute: { usd: '1', spreadBps: 2n, walkDivisor: 100n },
}

/** Whether a ticker of the catalogue has a price. */
export const hasPrice = (ticker: string): boolean => Object.hasOwn(basePrices, ticker)

/** US dollars × 10¹² per whole coin at a Unix second; null gives the fixed base price. */
export function priceOf(key: string, second: number | null): bigint {
  const base = basePrices[key] ?? testTokens[key]
  if (base === undefined) throw new Error(`the sandbox has no price for ${key}`)
  return middlePrice(key, base, second)
}
