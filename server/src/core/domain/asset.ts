/** `ticker@network`, lower case: `usdt@eth`. */
export type AssetId = `${string}@${string}`

/** A native currency or token on one network, as the ledger counts it. `contract` is null for the native currency. */
export type Asset = Readonly<{
  id: AssetId
  ticker: string
  network: string
  decimals: number
  contract: string | null
}>

/** Asset id of a network's native currency. */
export function nativeId({ id, symbol }: Readonly<{ id: string; symbol: string }>): AssetId {
  return assetId(symbol.toLowerCase(), id)
}

export function assetId(ticker: string, network: string): AssetId {
  return `${ticker}@${network}`
}
