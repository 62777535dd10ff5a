import type { OwnTokens } from '../interfaces.ts'
import type { ListedToken } from '../ports/token-lists.ts'

export type ListedTokensDeps = Readonly<{
  /** Of the operator, or of the sandbox: named before those of published lists. */
  own(network: string): OwnTokens
  published(network: string): readonly ListedToken[]
  /** Addresses that are not listed: on Celo and Polygon the one that is the coin itself. */
  hidden(network: string): ReadonlySet<string>
}>

/** Every token that is listed on a network, each once. */
export function createListedTokens({ own, published, hidden }: ListedTokensDeps) {
  const known = new Map<string, readonly ListedToken[]>()
  return (network: string): readonly ListedToken[] => {
    const before = known.get(network)
    if (before !== undefined) return before
    const icons = new Map(published(network).map(({ address, icon }) => [address, icon]))
    const byAddress = new Map<string, ListedToken>()
    const ours = own(network).map((token) => ({ ...token, address: token.address.toLowerCase() }))
    for (const token of ours) byAddress.set(token.address, { ...token, icon: icons.get(token.address) ?? null })
    for (const token of published(network)) if (!byAddress.has(token.address)) byAddress.set(token.address, token)
    for (const address of hidden(network)) byAddress.delete(address)
    const listed = [...byAddress.values()]
    known.set(network, listed)
    return listed
  }
}
