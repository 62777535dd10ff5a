import { type EvmNetwork, evmNetworks } from '../networks.ts'
import { type SandboxToken, sandboxTokens } from '../tokens.ts'

/** A token that pools trade. Its ticker is the key of its price. */
export type MarketToken = Readonly<{
  ticker: string
  symbol: string
  name: string
  decimals: number
  /** `levy` takes a fee on transfer; `tether` returns nothing. */
  kind: SandboxToken['kind'] | 'fee-on-transfer'
  /** Of the catalogue; the others are for swaps alone. */
  isListed: boolean
}>

const unlistedToken = (
  ticker: string,
  symbol: string,
  name: string,
  decimals: number,
  kind: MarketToken['kind'] = 'standard',
): MarketToken => ({ ticker, symbol, name, decimals, kind, isListed: false })

const standardTokens: readonly MarketToken[] = [
  unlistedToken('usdt', 'USDT', 'Tether USD', 6),
  unlistedToken('usdc', 'USDC', 'USD Coin', 6),
  unlistedToken('dai', 'DAI', 'Dai Stablecoin', 18),
  unlistedToken('wbtc', 'WBTC', 'Wrapped Bitcoin', 8),
  unlistedToken('weth', 'WETH', 'Wrapped Ether', 18),
  unlistedToken('wsteth', 'wstETH', 'Wrapped liquid staked Ether', 18),
  unlistedToken('link', 'LINK', 'Chainlink', 18),
  unlistedToken('uni', 'UNI', 'Uniswap', 18),
  unlistedToken('aave', 'AAVE', 'Aave', 18),
  unlistedToken('crv', 'CRV', 'Curve DAO Token', 18),
  unlistedToken('shib', 'SHIB', 'Shiba Inu', 18),
  unlistedToken('pepe', 'PEPE', 'Pepe', 18),
  unlistedToken('levy', 'LEVY', 'Levy on transfer', 18, 'fee-on-transfer'),
  unlistedToken('mute', 'MUTE', 'Mute token', 6, 'tether'),
]

const bitcoinTickers = ['wbtc', 'btcb', 'cbbtc']
const etherTickers = ['weth', 'eth']

/** The listed tokens of a network, and of the usual dozen those that it lists not, nor in another wrapping. */
export function marketTokens(network: string): readonly MarketToken[] {
  const { nativeTicker } = findNetwork(network)
  const listedTokens = sandboxTokens
    .filter((token) => token.network === network)
    .map(({ ticker, symbol, name, decimals, kind }) => ({ ticker, symbol, name, decimals, kind, isListed: true }))
  const has = (ticker: string) => {
    const same = [bitcoinTickers, etherTickers].find((group) => group.includes(ticker)) ?? [ticker]
    return (
      listedTokens.some((token) => same.includes(token.ticker)) || (nativeTicker === 'eth' && same === etherTickers)
    )
  }
  return [...listedTokens, ...standardTokens.filter(({ ticker }) => !has(ticker))]
}

export function findNetwork(network: string): EvmNetwork {
  const definition = evmNetworks.find((one) => one.network === network)
  if (definition === undefined) throw new Error(`the sandbox has no EVM network ${network}`)
  return definition
}

/** How the wrapped coin of a network is called. On Celo the coin is a token itself. */
export const wrappedNativeNames: Readonly<Record<string, { symbol: string; name: string }>> = {
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
export function findLeadingTokens(network: string): Readonly<{ bitcoin: string; ether: string }> {
  const tickers = marketTokens(network).map(({ ticker }) => ticker)
  const first = (group: readonly string[], otherwise: string) => group.find((one) => tickers.includes(one)) ?? otherwise
  return {
    bitcoin: first(bitcoinTickers, 'wbtc'),
    ether: findNetwork(network).nativeTicker === 'eth' ? 'wrapped' : first(etherTickers, 'weth'),
  }
}
