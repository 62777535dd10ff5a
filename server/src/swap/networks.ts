import { type AssetId, assetId } from '../core/domain/asset.ts'
import type { Book } from '../core/domain/book.ts'
import { canonicalNetwork } from '../core/domain/catalogue.ts'
import { AppError } from '../core/domain/errors.ts'
import { swapNetworks } from './domain/swap.ts'
import type { AddressFormat, SwapChain } from './ports/swap-chain.ts'

/** A network that this process serves. */
export type SwapNetwork = Readonly<{
  chain: SwapChain
  /** Celo: the native currency is also the token `chain.wrapped`. */
  nativeIsToken: boolean
}>

export const isNative = ({ native }: Pick<AddressFormat, 'native'>, token: string): boolean => token === native

/** The token by which pools hold `token`: the wrapped token for the native coin. */
export const poolToken = (chain: Pick<SwapChain, 'native' | 'wrapped'>, token: string): string =>
  isNative(chain, token) ? chain.wrapped : token

/** The token under which the ledger books `token`: on Celo the native currency and its token are one. */
export const ledgerToken = ({ chain, nativeIsToken }: SwapNetwork, token: string): string =>
  nativeIsToken ? poolToken(chain, token) : token

/** The ledger's asset id of a token, listed or not. */
export const tokenAsset = (network: SwapNetwork, token: string): AssetId =>
  assetId(ledgerToken(network, token), network.chain.network.id)

export type SwapNetworks = Readonly<{
  /** Finds by name or alias, in any case. Throws NETWORK_NOT_FOUND, or NETWORK_NOT_SERVED for another network of the specification. */
  get(name: string): SwapNetwork
  /** As `get`; throws NETWORK_PAUSED if the operator paused the network. */
  getOpen(name: string): SwapNetwork
  find(id: string): SwapNetwork | null
  /** The formats in which text may name an address or hash: of the named network, else of all. */
  formats(name?: string): readonly AddressFormat[]
  isPaused(id: string): boolean
}>

/** `families`: the formats of all families, for swaps on networks that are no longer served. */
export function createSwapNetworks(
  served: ReadonlyMap<string, SwapNetwork>,
  books: { current(): Book },
  families: readonly AddressFormat[],
): SwapNetworks {
  const allFormats = [...families, ...[...served.values()].map(({ chain }) => chain)]
  const isPaused = (id: string) => books.current().pauses.networks.has(id)
  const get = (name: string): SwapNetwork => {
    const id = canonicalNetwork(name)
    const network = served.get(id)
    if (network !== undefined) return network
    if (!swapNetworks.some((ticker) => ticker === id))
      throw new AppError('NETWORK_NOT_FOUND', 'there are no swaps on this network', { field: 'network' })
    throw new AppError('NETWORK_NOT_SERVED', `this server does not serve swaps on ${id}: see /v1/defi/networks`, {
      field: 'network',
    })
  }
  return {
    get,
    find: (id) => served.get(id) ?? null,
    formats: (name) => {
      const network = name === undefined ? undefined : served.get(canonicalNetwork(name))
      return network === undefined ? allFormats : [network.chain]
    },
    isPaused,
    getOpen: (name) => {
      const network = get(name)
      if (isPaused(network.chain.network.id))
        throw new AppError('NETWORK_PAUSED', 'this network is paused', { field: 'network' })
      return network
    },
  }
}
