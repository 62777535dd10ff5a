import { type AssetId, assetId } from '../../core/domain/asset.ts'
import type { Book, NetworkFees } from '../../core/domain/book.ts'
import type { AssetClass, Currency } from '../../core/domain/currency.ts'
import type { Network } from '../../core/domain/network.ts'
import { type Price, pricesAt } from '../../core/domain/price.ts'

/* Currencies and books for tests of prices. No figure comes from the catalogue. */
export const NOW = Date.UTC(2026, 10, 20, 12)

type Listing = Partial<{
  decimals: number
  contract: string | null
  assetClass: AssetClass
  priceKey: string
  supportsFixedRate: boolean
  isPeggedToUsd: boolean
  enabled: boolean
  dustUnits: bigint
  rank: number
}>

export function makeCurrency(ticker: string, networkId: string, listing: Listing = {}): Currency {
  const { decimals = 8, contract = null, assetClass = 'major', priceKey = ticker, dustUnits, rank = 1 } = listing
  const network: Network = {
    id: networkId,
    name: networkId,
    family: dustUnits === undefined ? 'evm' : 'bitcoin',
    coinType: 0,
    hotIndex: 0,
    symbol: networkId.toUpperCase(),
    decimals: contract === null ? decimals : 18,
    confirmations: 2,
    finalityBlocks: 10,
    blockTimeMs: 1_000,
    memo: 'none',
    regexAddress: '',
    addressExplorer: '',
    txExplorer: '',
    tokenSuffix: 'X',
    ...(dustUnits === undefined
      ? {}
      : {
          bitcoin: {
            bech32: null,
            cashAddr: null,
            pubKeyHash: 0,
            scriptHash: [5],
            wif: 128,
            dustUnits,
            replaceable: true,
          },
        }),
  }
  const definition = {
    ticker,
    network: networkId,
    symbol: ticker.toUpperCase(),
    name: ticker,
    decimals,
    contract,
    assetClass,
    isStable: assetClass === 'stable',
    isPeggedToUsd: listing.isPeggedToUsd ?? false,
    isFiat: false,
    supportsFixedRate: listing.supportsFixedRate ?? true,
    rank,
    icon: ticker,
    priceKey,
  }
  const asset = { id: assetId(ticker, networkId), ticker, network: networkId, decimals, contract }
  return { definition, asset, network, enabled: listing.enabled ?? true }
}

/** '96400.5' dollars → scaled by 10^12, by text. */
export function usd(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(`${whole}${fraction.padEnd(12, '0')}`)
}

export function price(bid: string, ask: string): Price {
  return { bid: usd(bid), ask: usd(ask) }
}

export type BookParts = Readonly<{
  prices: Readonly<Record<string, Price>>
  /** By network: its native currency, and the fee of one payout of each asset in units of that currency. */
  fees: Readonly<Record<string, { native: Currency; units: Readonly<Record<string, bigint>> }>>
  reserves: Readonly<Record<string, bigint | null>>
  at?: number
}>

export function makeBook({ prices, fees, reserves, at = NOW }: BookParts): Book {
  const networkFees = Object.entries(fees).map(([network, { native, units }]): [string, NetworkFees] => [
    network,
    {
      at,
      native: { assetId: native.asset.id, priceKey: native.definition.priceKey, decimals: native.asset.decimals },
      payoutFeeUnits: new Map(Object.entries(units)) as ReadonlyMap<AssetId, bigint>,
    },
  ])
  return {
    prices: pricesAt(at, new Map(Object.entries(prices))),
    fees: new Map(networkFees),
    reserves: { at, available: new Map(Object.entries(reserves)) as ReadonlyMap<AssetId, bigint | null> },
    pauses: { networks: new Set(), assets: new Set() },
    spreads: { bps: { stable: 10, major: 40, minor: 80 }, fixedRateExtraBps: 50 },
    fixedRates: { priceAgeMs: 5_000, reservePercent: 30, partnerPercent: 33 },
    stableBandPercent: 2,
  }
}

export const btc = makeCurrency('btc', 'btc', { dustUnits: 546n })
export const eth = makeCurrency('eth', 'eth', { decimals: 18 })
export const usdt = makeCurrency('usdt', 'eth', {
  decimals: 6,
  contract: '0xusdt',
  assetClass: 'stable',
  isPeggedToUsd: true,
})
export const shib = makeCurrency('shib', 'eth', {
  decimals: 18,
  contract: '0xshib',
  assetClass: 'minor',
  supportsFixedRate: false,
})

/** Three assets on Ethereum and one on Bitcoin, with round figures. */
export const bookParts: BookParts = {
  prices: {
    btc: price('99990', '100010'),
    eth: price('3999', '4001'),
    usdt: price('0.9999', '1.0001'),
    shib: price('0.00000999', '0.00001001'),
  },
  fees: {
    btc: { native: btc, units: { 'btc@btc': 1_500n } },
    eth: {
      native: eth,
      units: { 'eth@eth': 210_000_000_000_000n, 'usdt@eth': 650_000_000_000_000n, 'shib@eth': 600_000_000_000_000n },
    },
  },
  reserves: {
    'btc@btc': 500_000_000n,
    'eth@eth': 100n * 10n ** 18n,
    'usdt@eth': 2_000_000_000_000n,
    'shib@eth': 10n ** 28n,
  },
}
export const book = makeBook(bookParts)
