import type { Asset, AssetId } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import type { Network } from '../../core/domain/network.ts'

/** What the page says about an asset. */
export type NamedAsset = Readonly<{
  asset: Asset
  symbol: string
  networkName: string
  /** Null if the currency is no longer listed. */
  network: Network | null
  memoName: string
}>

export type AssetNames = Readonly<{
  /** An asset that is no longer listed has its ticker. */
  of(asset: Asset): NamedAsset
  /** null if it is not listed. */
  byId(id: AssetId): NamedAsset | null
}>

/** Names of assets from the currency list. */
export function createAssetNames(listCurrencies: () => readonly Currency[]): AssetNames {
  let list: readonly Currency[] = []
  let listed: ReadonlyMap<AssetId, NamedAsset> = new Map()
  const byId = (id: AssetId): NamedAsset | null => {
    const current = listCurrencies()
    if (current !== list) {
      list = current
      listed = new Map(current.map((currency) => [currency.asset.id, toNamed(currency)]))
    }
    return listed.get(id) ?? null
  }
  return {
    byId,
    of: (asset) =>
      byId(asset.id) ?? {
        ...{ asset, symbol: asset.ticker.toUpperCase(), networkName: asset.network },
        ...{ network: null, memoName: 'memo' },
      },
  }
}

const toNamed = ({ asset, definition, network }: Currency): NamedAsset => ({
  ...{ asset, symbol: definition.symbol, networkName: network.name, network },
  memoName: network.memoName ?? 'memo',
})

const hrefOf = (template: string, subject: string): string => template.replace('{}', encodeURIComponent(subject))

/** Pages of the block explorer; in the sandbox, paths on this server. */
export const addressHref = ({ network }: NamedAsset, address: string): string | null =>
  network === null ? null : hrefOf(network.addressExplorer, address)
export const transactionHref = ({ network }: NamedAsset, hash: string): string | null =>
  network === null ? null : hrefOf(network.txExplorer, hash)
