import { type Asset, assetId } from './asset.ts'
import type { Network } from './network.ts'

/** Decides the spread (`SpreadPolicy`). */
export type AssetClass = 'stable' | 'major' | 'minor'

/** A listing as its catalogue file states it. */
export type CurrencyDefinition = Readonly<{
  ticker: string
  network: string
  symbol: string
  name: string
  decimals: number
  /** Production contract; null for the native currency. The sandbox's contracts come from `chains.json`. */
  contract: string | null
  assetClass: AssetClass
  isStable: boolean
  /** Its price should be one US dollar: outside of the band around it, it is not quoted. */
  isPeggedToUsd: boolean
  isFiat: boolean
  supportsFixedRate: boolean
  rank: number
  /** File name in the icon package, without extension. */
  icon: string
  /** Key of its reference price, for example `usdt` for USDT on every network. */
  priceKey: string
  /** A bridge or an exchange issues it against the original with the same ticker, and it follows the price of that. */
  isBridged?: boolean
  /** Code in the rates feed if it differs from the rule of `feedCodes`. */
  feedCode?: string
}>

/** A listed currency with its asset and network. `enabled`: it can be exchanged now. */
export type Currency = Readonly<{ definition: CurrencyDefinition; asset: Asset; network: Network; enabled: boolean }>

export function toAsset(definition: CurrencyDefinition, contract: string | null): Asset {
  const { ticker, network, decimals } = definition
  return Object.freeze({ id: assetId(ticker, network), ticker, network, decimals, contract })
}
