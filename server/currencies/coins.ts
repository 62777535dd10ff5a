import type { CurrencyDefinition } from '../src/core/domain/currency.ts'
import { defineCurrency, type Listing } from './define-currency.ts'

type Coin = Omit<Listing, 'contract' | 'assetClass'> & Partial<Pick<Listing, 'assetClass'>>

function defineCoin(coin: Coin): CurrencyDefinition {
  return defineCurrency({ contract: null, assetClass: 'major', ...coin })
}

/** The networks' native coins. */
export const coins: readonly CurrencyDefinition[] = [
  defineCoin({ ticker: 'btc', network: 'btc', name: 'Bitcoin', decimals: 8, rank: 1 }),
  defineCoin({ ticker: 'ltc', network: 'ltc', name: 'Litecoin', decimals: 8, rank: 10 }),
  defineCoin({ ticker: 'doge', network: 'doge', name: 'Dogecoin', decimals: 8, rank: 12 }),
  defineCoin({ ticker: 'bch', network: 'bch', name: 'Bitcoin Cash', decimals: 8, rank: 24 }),
  defineCoin({ ticker: 'eth', network: 'eth', name: 'Ethereum', decimals: 18, rank: 2 }),
  defineCoin({ ticker: 'eth', network: 'arbitrum', name: 'Ethereum', decimals: 18, rank: 30 }),
  defineCoin({ ticker: 'eth', network: 'base', name: 'Ethereum', decimals: 18, rank: 29 }),
  defineCoin({ ticker: 'eth', network: 'linea', name: 'Ethereum', decimals: 18, rank: 36 }),
  defineCoin({ ticker: 'eth', network: 'op', name: 'Ethereum', decimals: 18, rank: 31 }),
  defineCoin({ ticker: 'eth', network: 'uni', name: 'Ethereum', decimals: 18, rank: 37 }),
  defineCoin({ ticker: 'bnb', network: 'bsc', name: 'BNB', decimals: 18, rank: 8 }),
  defineCoin({ ticker: 'avax', network: 'cchain', name: 'Avalanche', decimals: 18, rank: 27 }),
  defineCoin({ ticker: 'pol', network: 'matic', name: 'POL (ex-MATIC)', decimals: 18, rank: 28, icon: 'matic' }),
  defineCoin({
    ticker: 'celo',
    network: 'celo',
    name: 'Celo',
    decimals: 18,
    assetClass: 'minor',
    rank: 52,
    supportsFixedRate: true,
    icon: 'generic',
  }),
  defineCoin({
    ticker: 'sei',
    network: 'sei',
    name: 'Sei',
    decimals: 18,
    assetClass: 'minor',
    rank: 50,
    supportsFixedRate: true,
    icon: 'generic',
  }),
  defineCoin({
    ticker: 's',
    network: 'sonic',
    name: 'Sonic',
    decimals: 18,
    assetClass: 'minor',
    rank: 51,
    supportsFixedRate: true,
    icon: 'generic',
  }),
  defineCoin({ ticker: 'xmr', network: 'xmr', name: 'Monero', decimals: 12, rank: 9 }),
  defineCoin({ ticker: 'sol', network: 'sol', name: 'Solana', decimals: 9, rank: 6 }),
  defineCoin({ ticker: 'sui', network: 'sui', name: 'Sui', decimals: 9, rank: 25, icon: 'generic' }),
  defineCoin({ ticker: 'xrp', network: 'xrp', name: 'XRP', decimals: 6, rank: 7 }),
  defineCoin({ ticker: 'xlm', network: 'xlm', name: 'Stellar Lumens', decimals: 7, rank: 26 }),
  defineCoin({ ticker: 'ton', network: 'ton', name: 'Toncoin', decimals: 9, rank: 13, icon: 'generic' }),
  defineCoin({ ticker: 'trx', network: 'trx', name: 'TRON', decimals: 6, rank: 11 }),
]
