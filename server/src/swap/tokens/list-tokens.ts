import type { Token } from '../domain/token.ts'
import type { SwapServices, TokenView } from '../interfaces.ts'
import { poolToken, type SwapNetworks } from '../networks.ts'
import type { Router } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { ListedToken } from '../ports/token-lists.ts'

export type ListTokensDeps = Readonly<{
  networks: SwapNetworks
  router: Router
  /** Every listed token of a network except native currency, each once, in list order. */
  listed(network: string): readonly ListedToken[]
}>

type CachedList = Readonly<{ liquidity: ReadonlyMap<string, number>; isPaused: boolean; views: readonly TokenView[] }>

/** The tokens of a network: swappable ones first, by liquidity. Sorted again only when liquidity or the pause changes. */
export function createListTokens({ networks, router, listed }: ListTokensDeps): SwapServices['listTokens'] {
  const cache = new Map<string, CachedList>()
  return (name) => {
    const { chain } = networks.get(name)
    const { id } = chain.network
    const [liquidity, isPaused] = [router.liquidity(id), networks.isPaused(id)]
    const cached = cache.get(id)
    if (cached !== undefined && cached.isPaused === isPaused && isSame(cached.liquidity, liquidity)) return cached.views
    const views = rank(chain, listed(id), isPaused ? new Map() : liquidity)
    cache.set(id, { liquidity, isPaused, views })
    return views
  }
}

/** Two empty maps are the same: before the first read the router returns a new one each time. */
const isSame = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean =>
  a === b || (a.size === 0 && b.size === 0)

function rank(
  chain: SwapChain,
  listed: readonly ListedToken[],
  liquidity: ReadonlyMap<string, number>,
): readonly TokenView[] {
  const dollarsOf = (address: string) => liquidity.get(poolToken(chain, address)) ?? -1
  const native = { ...nativeTokenOf(chain), icon: null }
  return [native, ...listed]
    .map((token) => ({ token, dollars: dollarsOf(token.address) }))
    .sort((a, b) => b.dollars - a.dollars)
    .map(({ token: { icon, ...token }, dollars }) => ({
      token: { ...token, network: chain.network.id, address: chain.formatAddress(token.address) },
      enabled: dollars >= 0,
      icon,
    }))
}

/** The native currency as a token. */
export function nativeTokenOf({ network, native }: SwapChain): Token {
  const { id, symbol, decimals } = network
  return { network: id, address: native, name: network.name, symbol, decimals }
}
