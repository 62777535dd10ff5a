import { isNative, nativeAddress, type Token } from '../domain/token.ts'
import type { SwapServices, TokenView } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { Router } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { ListedToken } from '../ports/token-lists.ts'

export type ListTokensDeps = Readonly<{
  networks: SwapNetworks
  router: Router
  /** Every listed token of a network but its coin, each once, in the order of the lists. */
  listed(network: string): readonly ListedToken[]
}>

type Known = Readonly<{ liquidity: ReadonlyMap<string, number>; isPaused: boolean; views: readonly TokenView[] }>

/** The tokens of a network: those that can be swapped first, and of them the most liquid. Worked out when liquidity changes. */
export function createListTokens({ networks, router, listed }: ListTokensDeps): SwapServices['listTokens'] {
  const known = new Map<string, Known>()
  return (name) => {
    const { chain } = networks.get(name)
    const { id } = chain.network
    const [liquidity, isPaused] = [router.liquidity(id), networks.isPaused(id)]
    const before = known.get(id)
    // Nothing is known yet: an empty map may be another each time.
    if (before !== undefined && before.isPaused === isPaused && isSame(before.liquidity, liquidity)) return before.views
    const views = rank(chain, listed(id), isPaused ? new Map() : liquidity)
    known.set(id, { liquidity, isPaused, views })
    return views
  }
}

const isSame = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean =>
  a === b || (a.size === 0 && b.size === 0)

function rank(
  chain: SwapChain,
  listed: readonly ListedToken[],
  liquidity: ReadonlyMap<string, number>,
): readonly TokenView[] {
  const worth = (address: string) => liquidity.get(isNative(address) ? chain.wrapped : address) ?? -1
  const coin = { ...nativeTokenOf(chain), icon: null }
  return [coin, ...listed]
    .map((token) => ({ token, worth: worth(token.address) }))
    .sort((a, b) => b.worth - a.worth)
    .map(({ token: { icon, ...token }, worth: dollars }) => ({
      token: { ...token, network: chain.network.id, address: chain.formatAddress(token.address) },
      enabled: dollars >= 0,
      icon,
    }))
}

/** The network's own coin, as a token. */
export function nativeTokenOf({ network }: SwapChain): Token {
  const { id, symbol, decimals } = network
  return { network: id, address: nativeAddress, name: network.name, symbol, decimals }
}
