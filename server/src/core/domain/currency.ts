import { type Asset, assetId } from './asset.ts'
import type { Network } from './network.ts'

/** How much spread a currency bears. */
export type AssetClass = 'stable' | 'major' | 'minor'

/** A listing of the catalogue, as its file states it. */
export type CurrencyDefinition = Readonly<{
  ticker: string
  network: string
  symbol: string
  name: string
  decimals: number
  /** Contract in production; null for the network's own coin. The sandbox's contracts come from `chains.json`. */
  contract: string | null
  assetClass: AssetClass
  isStable: boolean
  isFiat: boolean
  supportsFixedRate: boolean
  rank: number
  /** File name in the icon package, without its ending. */
  icon: string
  /** The reference price that it follows, for example `usdt` for every USDT. */
  priceKey: string
  /** Code in the rates feed where the general rule does not give it. */
  feedCode?: string
}>

/** A currency that partners see: its asset, its network, and whether it can be exchanged now. */
export type Currency = Readonly<{ definition: CurrencyDefinition; asset: Asset; network: Network; enabled: boolean }>

export function toAsset(definition: CurrencyDefinition, contract: string | null): Asset {
  const { ticker, network, decimals } = definition
  return Object.freeze({ id: assetId(ticker, network), ticker, network, decimals, contract })
}
