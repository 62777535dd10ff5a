/** A listed token that the sandbox deploys, with the ticker, network and decimals of the catalogue. */
export type SandboxToken = Readonly<{
  network: string
  ticker: string
  symbol: string
  name: string
  decimals: number
  /** `tether`: calls return no value and a non-zero allowance can only be set to zero, as USDT on Ethereum. */
  kind: 'standard' | 'tether'
}>

const row = (
  network: string,
  ticker: string,
  symbol: string,
  name: string,
  decimals: number,
  kind: SandboxToken['kind'] = 'standard',
): SandboxToken => ({ network, ticker, symbol, name, decimals, kind })

/** Every EVM token of the catalogue; sandbox/test/tokens.test.ts compares the list with `server/currencies`. */
export const sandboxTokens: readonly SandboxToken[] = [
  row('eth', 'usdt', 'USDT', 'Tether USD', 6, 'tether'),
  row('bsc', 'usdt', 'USDT', 'Tether USD', 18),
  row('matic', 'usdt', 'USDT', 'Tether USD', 6),
  row('arbitrum', 'usdt', 'USDT', 'Tether USD', 6),
  row('op', 'usdt', 'USDT', 'Tether USD', 6),
  row('cchain', 'usdt', 'USDT', 'Tether USD', 6),
  row('celo', 'usdt', 'USDT', 'Tether USD', 6),
  row('linea', 'usdt', 'USDT', 'Tether USD', 6),
  row('eth', 'usdc', 'USDC', 'USD Coin', 6),
  row('bsc', 'usdc', 'USDC', 'USD Coin', 18),
  row('matic', 'usdc', 'USDC', 'USD Coin', 6),
  row('arbitrum', 'usdc', 'USDC', 'USD Coin', 6),
  row('op', 'usdc', 'USDC', 'USD Coin', 6),
  row('base', 'usdc', 'USDC', 'USD Coin', 6),
  row('cchain', 'usdc', 'USDC', 'USD Coin', 6),
  row('celo', 'usdc', 'USDC', 'USD Coin', 6),
  row('linea', 'usdc', 'USDC', 'USD Coin', 6),
  row('sonic', 'usdc', 'USDC', 'USD Coin', 6),
  row('uni', 'usdc', 'USDC', 'USD Coin', 6),
  row('sei', 'usdc', 'USDC', 'USD Coin', 6),
  row('eth', 'dai', 'DAI', 'Dai', 18),
  row('matic', 'dai', 'DAI', 'Dai', 18),
  row('arbitrum', 'dai', 'DAI', 'Dai', 18),
  row('op', 'dai', 'DAI', 'Dai', 18),
  row('eth', 'eurc', 'EURC', 'EURC', 6),
  row('base', 'eurc', 'EURC', 'EURC', 6),
  row('eth', 'wbtc', 'WBTC', 'Wrapped Bitcoin', 8),
  row('matic', 'wbtc', 'WBTC', 'Wrapped Bitcoin', 8),
  row('arbitrum', 'wbtc', 'WBTC', 'Wrapped Bitcoin', 8),
  row('bsc', 'btcb', 'BTCB', 'Bitcoin BEP20', 18),
  row('base', 'cbbtc', 'cbBTC', 'Coinbase Wrapped BTC', 8),
  row('bsc', 'eth', 'ETH', 'Ethereum', 18),
  row('eth', 'link', 'LINK', 'Chainlink', 18),
  row('arbitrum', 'link', 'LINK', 'Chainlink', 18),
  row('eth', 'uni', 'UNI', 'Uniswap', 18),
  row('eth', 'aave', 'AAVE', 'Aave', 18),
  row('eth', 'crv', 'CRV', 'Curve DAO Token', 18),
  row('eth', 'shib', 'SHIB', 'Shiba Inu', 18),
  row('eth', 'pepe', 'PEPE', 'Pepe', 18),
  row('arbitrum', 'arb', 'ARB', 'Arbitrum', 18),
  row('op', 'op', 'OP', 'Optimism', 18),
  row('bsc', 'cake', 'CAKE', 'PancakeSwap Token', 18),
  row('base', 'aero', 'AERO', 'Aerodrome', 18),
]
