import { type EvmNetwork, evmNetworks } from '../networks.ts'
import { type SandboxToken, sandboxTokens } from '../tokens.ts'

/** A token that pools trade. Its ticker is the key of its price. */
export type MarketToken = Readonly<{
  ticker: string
  symbol: string
  name: string
  decimals: number
  /** `levy` takes a fee on transfer; `tether` returns nothing. */
  kind: SandboxToken['kind'] | 'levy'
  /** Of the catalogue; the others are for swaps alone. */
  listed: boolean
}>

const extra = (
  ticker: string,
  symbol: string,
  name: string,
  decimals: number,
  kind: MarketToken['kind'] = 'standard',
): MarketToken => ({ ticker, symbol, name, decimals, kind, listed: false })

const dozen: readonly MarketToken[] = [
  extra('usdt', 'USDT', 'Tether USD', 6),
  extra('usdc', 'USDC', 'USD Coin', 6),
  extra('dai', 'DAI', 'Dai Stablecoin', 18),
  extra('wbtc', 'WBTC', 'Wrapped Bitcoin', 8),
  extra('weth', 'WETH', 'Wrapped Ether', 18),
  extra('wsteth', 'wstETH', 'Wrapped liquid staked Ether', 18),
  extra('link', 'LINK', 'Chainlink', 18),
  extra('uni', 'UNI', 'Uniswap', 18),
  extra('aave', 'AAVE', 'Aave', 18),
  extra('crv', 'CRV', 'Curve DAO Token', 18),
  extra('shib', 'SHIB', 'Shiba Inu', 18),
  extra('pepe', 'PEPE', 'Pepe', 18),
  extra('levy', 'LEVY', 'Levy on transfer', 18, 'levy'),
  extra('mute', 'MUTE', 'Mute token', 6, 'tether'),
]

const bitcoins = ['wbtc', 'btcb', 'cbbtc']
const ethers = ['weth', 'eth']

/** The listed tokens of a network, and of the usual dozen those that it lists not, nor in another wrapping. */
export function marketTokens(network: string): readonly MarketToken[] {
  const { coin } = networkOf(network)
  const listed = sandboxTokens
    .filter((token) => token.network === network)
    .map(({ ticker, symbol, name, decimals, kind }) => ({ ticker, symbol, name, decimals, kind, listed: true }))
  const has = (ticker: string) => {
    const same = [bitcoins, ethers].find((group) => group.includes(ticker)) ?? [ticker]
    return listed.some((token) => same.includes(token.ticker)) || (coin === 'eth' && same === ethers)
  }
  return [...listed, ...dozen.filter(({ ticker }) => !has(ticker))]
}

export function networkOf(network: string): EvmNetwork {
  const found = evmNetworks.find((one) => one.network === network)
  if (found === undefined) throw new Error(`the sandbox has no EVM network ${network}`)
  return found
}

/** How the wrapped coin of a network is called. On Celo the coin is a token itself. */
export const wrappedNames: Readonly<Record<string, { symbol: string; name: string }>> = {
  eth: { symbol: 'WETH', name: 'Wrapped Ether' },
  bnb: { symbol: 'WBNB', name: 'Wrapped BNB' },
  avax: { symbol: 'WAVAX', name: 'Wrapped AVAX' },
  pol: { symbol: 'WPOL', name: 'Wrapped Polygon Ecosystem Token' },
  sei: { symbol: 'WSEI', name: 'Wrapped SEI' },
  s: { symbol: 'WS', name: 'Wrapped Sonic' },
}

/** CELO at its real address: the node's `--celo` lets no other contract move coins. */
export const celoToken = '0x471ece3750da237f93b8e339c536989b8978a438'

/** Which token is a network's bitcoin, and which its ether; `coin` is the native one, wrapped. */
export function leading(network: string): Readonly<{ bitcoin: string; ether: string }> {
  const tickers = marketTokens(network).map(({ ticker }) => ticker)
  const first = (group: readonly string[], otherwise: string) => group.find((one) => tickers.includes(one)) ?? otherwise
  return { bitcoin: first(bitcoins, 'wbtc'), ether: networkOf(network).coin === 'eth' ? 'coin' : first(ethers, 'weth') }
}
