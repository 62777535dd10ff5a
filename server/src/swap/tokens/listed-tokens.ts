import type { OwnTokens } from '../interfaces.ts'
import type { ListedToken } from '../ports/token-lists.ts'

export type ListedTokensDeps = Readonly<{
  /** Tokens of the operator or of the sandbox, by canonical address; they precede those of published lists. */
  own(network: string): OwnTokens
  published(network: string): readonly ListedToken[]
  /** Addresses that are not listed: on Celo and Polygon the contract of the native currency itself. */
  hidden(network: string): ReadonlySet<string>
}>

/** Every listed token of a network, each once. Cached per network. */
export function createListedTokens({ own, published, hidden }: ListedTokensDeps) {
  const cache = new Map<string, readonly ListedToken[]>()
  return (network: string): readonly ListedToken[] => {
    const cached = cache.get(network)
    if (cached !== undefined) return cached
    const icons = new Map(published(network).map(({ address, icon }) => [address, icon]))
    const byAddress = new Map<string, ListedToken>()
    for (const token of own(network)) byAddress.set(token.address, { ...token, icon: icons.get(token.address) ?? null })
    for (const token of published(network)) if (!byAddress.has(token.address)) byAddress.set(token.address, token)
    for (const address of hidden(network)) byAddress.delete(address)
    const listed = [...byAddress.values()]
    cache.set(network, listed)
    return listed
  }
}
