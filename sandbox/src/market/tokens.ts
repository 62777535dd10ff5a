import { type EvmNetwork, evmNetworks } from '../networks.ts'
import { type SandboxToken, sandboxTokens } from '../tokens.ts'

/** A token with pools. Its ticker is its price key. */
export type MarketToken = Omit<SandboxToken, 'network' | 'kind'> &
  Readonly<{
    /** `fee-on-transfer` burns a part of each transfer; `tether` returns no value from its calls. */
    kind: SandboxToken['kind'] | 'fee-on-transfer'
    /** True for tokens of the catalogue; the others exist only for swaps. */
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

/** The listed tokens of a network, plus the standard tokens that it does not list, not even in another wrapping. */
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

/** Symbol and name of the wrapped native coin, by native ticker. Celo has none: its native coin is a token. */
export const wrappedNativeNames: Readonly<Record<string, { symbol: string; name: string }>> = {
  eth: { symbol: 'WETH', name: 'Wrapped Ether' },
  bnb: { symbol: 'WBNB', name: 'Wrapped BNB' },
  avax: { symbol: 'WAVAX', name: 'Wrapped AVAX' },
  pol: { symbol: 'WPOL', name: 'Wrapped Polygon Ecosystem Token' },
  sei: { symbol: 'WSEI', name: 'Wrapped SEI' },
  s: { symbol: 'WS', name: 'Wrapped Sonic' },
}

/** CELO at its real address: with `--celo` anvil allows only this contract to move native coins. */
export const celoToken = '0x471ece3750da237f93b8e339c536989b8978a438'

/** Tickers of a network's main bitcoin and ether tokens; `wrapped` is the wrapped native coin. */
export function findLeadingTokens(network: string): Readonly<{ bitcoin: string; ether: string }> {
  const tickers = marketTokens(network).map(({ ticker }) => ticker)
  const first = (group: readonly string[], otherwise: string) => group.find((one) => tickers.includes(one)) ?? otherwise
  return {
    bitcoin: first(bitcoinTickers, 'wbtc'),
    ether: findNetwork(network).nativeTicker === 'eth' ? 'wrapped' : first(etherTickers, 'weth'),
  }
}
