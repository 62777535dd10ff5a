/* The coins of the simulated Sui chain. */

/** A coin with a price; the ticker is the key of its price. */
export type SuiCoin = Readonly<{ ticker: string; type: string; symbol: string; name: string; decimals: number }>

/** The sandbox's own package: objects of a real network belong to others, so no signature of the sandbox is valid there. */
const coinPackage = `0x${'c0'.repeat(32)}`

const coin = (ticker: string, symbol: string, name: string, decimals: number): SuiCoin => ({
  ...{ ticker, type: `${coinPackage}::${ticker}::${symbol}`, symbol, name, decimals },
})

export const suiCoin: SuiCoin = { ticker: 'sui', type: '0x2::sui::SUI', symbol: 'SUI', name: 'Sui', decimals: 9 }
export const suiTokens: readonly SuiCoin[] = [
  coin('usdc', 'USDC', 'USD Coin', 6),
  coin('usdt', 'USDT', 'Tether USD', 6),
  coin('wbtc', 'WBTC', 'Wrapped Bitcoin', 8),
  coin('weth', 'WETH', 'Wrapped Ether', 8),
  coin('fdusd', 'FDUSD', 'First Digital USD', 6),
  coin('deep', 'DEEP', 'DeepBook Token', 6),
  coin('cetus', 'CETUS', 'CETUS Token', 9),
  coin('wal', 'WAL', 'WAL Token', 9),
  coin('ns', 'NS', 'SuiNS Token', 6),
  coin('blue', 'BLUE', 'Bluefin', 9),
  coin('sca', 'SCA', 'Scallop', 9),
  coin('turbos', 'TURBOS', 'Turbos', 9),
]

export function findCoin(ticker: string): SuiCoin {
  const found = [suiCoin, ...suiTokens].find((one) => one.ticker === ticker)
  if (found === undefined) throw new Error(`the market has no coin ${ticker}`)
  return found
}

/** DeepBook's fees can be paid with it. */
export const deepType = findCoin('deep').type
