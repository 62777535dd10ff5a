import type { Asset } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { Listing } from './present.ts'

type Index = Readonly<{
  currencies: readonly Currency[]
  memoNetworks: ReadonlySet<string>
  assets: ReadonlyMap<string, Asset>
  chainIds: ReadonlyMap<string, number | null>
}>

/** Indexes the currency list that partners see: networks that require a memo, and assets by id. Built once per list. */
export function createListing({
  listCurrencies,
  expectations,
}: Pick<ExchangeServices, 'listCurrencies' | 'expectations'>): Listing {
  let cached: Index | null = null
  const getIndex = (): Index => {
    const currencies = listCurrencies()
    if (cached?.currencies !== currencies) cached = buildIndex(currencies)
    return cached
  }
  return {
    expectations,
    requiresMemo: (network) => getIndex().memoNetworks.has(network),
    chainIdOf: (network) => getIndex().chainIds.get(network) ?? null,
    assetOf: (id) => getIndex().assets.get(id) ?? null,
  }
}

function buildIndex(currencies: readonly Currency[]): Index {
  const memoNetworks = currencies.filter(({ network }) => network.memo === 'required').map(({ network }) => network.id)
  const assets = new Map(currencies.map(({ asset }) => [asset.id, asset]))
  const chainIds = new Map(currencies.map(({ network }) => [network.id, network.evm?.chainId ?? null]))
  return { currencies, memoNetworks: new Set(memoNetworks), assets, chainIds }
}
