import type { CurrencyDefinition } from '../src/core/domain/currency.ts'

type Assumed = 'symbol' | 'isStable' | 'isFiat' | 'supportsFixedRate' | 'icon' | 'priceKey'

/** One listing. What is left out follows from the ticker and the class. */
export function defineCurrency(
  listing: Omit<CurrencyDefinition, Assumed> & Partial<Pick<CurrencyDefinition, Assumed>>,
): CurrencyDefinition {
  const { ticker, assetClass } = listing
  return {
    symbol: ticker.toUpperCase(),
    isStable: assetClass === 'stable',
    isFiat: false,
    // A price that can run away within the twenty minutes of a lock is not sold at a fixed rate.
    supportsFixedRate: assetClass !== 'minor',
    icon: ticker,
    priceKey: ticker,
    ...listing,
  }
}
