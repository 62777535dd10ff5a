import { type AssetId, assetId } from '../core/domain/asset.ts'
import type { Book } from '../core/domain/book.ts'
import { canonicalNetwork } from '../core/domain/catalogue.ts'
import { AppError } from '../core/domain/errors.ts'
import { swapNetworks } from './domain/swap.ts'
import { isNative } from './domain/token.ts'
import type { SwapChain } from './ports/swap-chain.ts'

/** A network that is served here. */
export type SwapNetwork = Readonly<{
  chain: SwapChain
  /** Celo: the coin is itself the token `chain.wrapped`. */
  coinIsToken: boolean
}>

/** On Celo the coin and its token are one. */
export const countedAs = ({ chain, coinIsToken }: SwapNetwork, token: string): string =>
  coinIsToken && isNative(token) ? chain.wrapped : token

/** A token as the ledger counts it: listed or not, by its contract. */
export const tokenAsset = (network: SwapNetwork, token: string): AssetId =>
  assetId(countedAs(network, token), network.chain.network.id)

export type SwapNetworks = Readonly<{
  /** By name in any case and by its aliases. Throws NETWORK_NOT_FOUND, and NETWORK_UNAVAILABLE for one that is not served. */
  get(name: string): SwapNetwork
  /** The same, and NETWORK_PAUSED where the operator stopped it. */
  getOpen(name: string): SwapNetwork
  find(id: string): SwapNetwork | null
  isPaused(id: string): boolean
}>

export function createSwapNetworks(served: ReadonlyMap<string, SwapNetwork>, books: { current(): Book }): SwapNetworks {
  const isPaused = (id: string) => books.current().pauses.networks.has(id)
  const get = (name: string): SwapNetwork => {
    const id = canonicalNetwork(name)
    const found = served.get(id)
    if (found !== undefined) return found
    if (!swapNetworks.some((known) => known === id))
      throw new AppError('NETWORK_NOT_FOUND', 'there are no swaps on this network', { field: 'network' })
    throw new AppError('NETWORK_UNAVAILABLE', `swaps on ${id} are not served here`, {
      field: 'network',
      retryAfterSeconds: 60,
    })
  }
  return {
    get,
    find: (id) => served.get(id) ?? null,
    isPaused,
    getOpen: (name) => {
      const found = get(name)
      if (isPaused(found.chain.network.id))
        throw new AppError('NETWORK_PAUSED', 'this network is paused at the moment', { field: 'network' })
      return found
    },
  }
}
