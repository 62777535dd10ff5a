import type { CurrencyDefinition } from '../src/core/domain/currency.ts'

type Assumed = 'symbol' | 'isStable' | 'isPeggedToUsd' | 'isFiat' | 'supportsFixedRate' | 'icon' | 'priceKey'
export type Listing = Omit<CurrencyDefinition, Assumed> & Partial<Pick<CurrencyDefinition, Assumed>>

/** One listing. What is left out follows from the ticker and the class. */
export function defineCurrency(listing: Listing): CurrencyDefinition {
  const { ticker, assetClass } = listing
  return {
    symbol: ticker.toUpperCase(),
    isStable: assetClass === 'stable',
    isPeggedToUsd: assetClass === 'stable',
    isFiat: false,
    // A price that can run away within the twenty minutes of a lock is not sold at a fixed rate.
    supportsFixedRate: assetClass !== 'minor',
    icon: ticker,
    priceKey: ticker,
    ...listing,
  }
}

type Token = Omit<Listing, 'network' | 'contract' | 'rank' | 'feedCode'>
/** `decimals` only where a network's contract differs from the token's others. */
type TokenContract = Pick<Listing, 'network' | 'rank' | 'feedCode' | 'isBridged'> &
  Readonly<{ contract: string; decimals?: number }>

/** The listings of one token, by network. */
export function defineToken(token: Token, contracts: readonly TokenContract[]): readonly CurrencyDefinition[] {
  return contracts.map((contract) => defineCurrency({ ...token, ...contract }))
}
