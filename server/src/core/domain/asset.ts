/** `ticker@network`, lower case: `usdt@eth`. */
export type AssetId = `${string}@${string}`

/** One coin or token on one network, as the ledger counts it. `contract` is null for the network's own coin. */
export type Asset = Readonly<{
  id: AssetId
  ticker: string
  network: string
  decimals: number
  contract: string | null
}>

/** Of the network's own coin. */
export function nativeId({ id, symbol }: Readonly<{ id: string; symbol: string }>): AssetId {
  return assetId(symbol.toLowerCase(), id)
}

export function assetId(ticker: string, network: string): AssetId {
  return `${ticker}@${network}`
}
