import type { Asset } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { PresentDeps } from './present.ts'

/** Path of the page where a payer follows an exchange. */
export const trackingPath = (token: string): string => `/track/${token}`

type Index = Readonly<{
  currencies: readonly Currency[]
  memoNetworks: ReadonlySet<string>
  assets: ReadonlyMap<string, Asset>
  chainIds: ReadonlyMap<string, number | null>
}>

/** Indexes the currency list that partners see: networks that require a memo, and assets by id. Built once per list. */
export function createPresentDeps(
  { listCurrencies, expectations, tracking }: Pick<ExchangeServices, 'listCurrencies' | 'expectations' | 'tracking'>,
  publicUrl: string,
): PresentDeps {
  // By exchange, because most polls present the same one again.
  const trackingUrls = new WeakMap<Exchange, string>()
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
    trackingUrlOf: (exchange) => {
      const known = trackingUrls.get(exchange)
      if (known !== undefined) return known
      const url = `${publicUrl}${trackingPath(tracking.tokenOf(exchange.id))}`
      trackingUrls.set(exchange, url)
      return url
    },
  }
}

function buildIndex(currencies: readonly Currency[]): Index {
  const memoNetworks = currencies.filter(({ network }) => network.memo === 'required').map(({ network }) => network.id)
  const assets = new Map(currencies.map(({ asset }) => [asset.id, asset]))
  const chainIds = new Map(currencies.map(({ network }) => [network.id, network.evm?.chainId ?? null]))
  return { currencies, memoNetworks: new Set(memoNetworks), assets, chainIds }
}
