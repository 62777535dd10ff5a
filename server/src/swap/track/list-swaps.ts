import { canonicalNetwork } from '../../core/domain/catalogue.ts'
import { type ListSource, listCounted } from '../../core/services/counted-list.ts'
import type { Swap } from '../domain/swap.ts'
import { isNative, nativeAddress } from '../domain/token.ts'
import type { SwapListFilter, SwapServices, SwapView } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { SwapStore } from '../ports/store/swaps.ts'

export type ListSwapsDeps = Readonly<{ networks: SwapNetworks; swaps: SwapStore }>

/** An account or a token on any chain. Other text matches nothing and is not passed to the store. */
const ADDRESS = /^[A-Za-z0-9:_]{1,256}$/
const NETWORK = /^[a-z0-9-]{1,32}$/
const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/
const HASH = /^0x[0-9a-fA-F]{64}$/
const NOTHING = '-'

/** One swap of the partner, of any age. */
export function createFindSwap({ networks, swaps }: ListSwapsDeps): SwapServices['findSwap'] {
  return async (partner, { id, hash }) => {
    const found =
      id === undefined
        ? await swaps.findReported(partner.id, { hash: canonicalHash(hash ?? '') })
        : await swaps.findReported(partner.id, { id: id.toLowerCase() })
    return found === null ? null : viewOf(networks, found)
  }
}

function viewOf(networks: SwapNetworks, swap: Swap): SwapView {
  const served = networks.find(swap.network)
  // A network that is no longer served has no formatter: addresses stay lower case.
  return { swap, formatAddress: served === null ? (address) => address : served.chain.formatAddress }
}

/** The partner's swaps of the last 24 hours. */
export function createListSwaps({ networks, swaps }: ListSwapsDeps): SwapServices['listSwaps'] {
  const view = (swap: Swap) => viewOf(networks, swap)
  return async (partner, filter, page) => {
    const query = { ...queryOf(filter), partnerId: partner.id }
    const source: ListSource<Swap> = {
      read: (after, limit, offset) => swaps.list(query, after, limit, offset),
      count: () => swaps.count(query),
      placeOf: (swap) => swap,
    }
    const { total, rows } = await listCounted(source, page)
    return { total, rows: views(rows, view) }
  }
}

async function* views(rows: AsyncIterable<Swap>, view: (swap: Swap) => SwapView): AsyncGenerator<SwapView> {
  for await (const swap of rows) yield view(swap)
}

function queryOf({ status, fromTokenAddress, toTokenAddress, network, hash, account }: SwapListFilter) {
  return {
    ...(status === undefined ? {} : { status }),
    ...(fromTokenAddress === undefined ? {} : { tokenIn: canonicalToken(fromTokenAddress) }),
    ...(toTokenAddress === undefined ? {} : { tokenOut: canonicalToken(toTokenAddress) }),
    ...(network === undefined ? {} : { network: canonicalTicker(network) }),
    ...(hash === undefined ? {} : { hash: canonicalHash(hash) }),
    ...(account === undefined ? {} : { sender: canonicalAccount(account) }),
  }
}

/** Other text matches nothing and is not passed to the store. */
const canonicalHash = (text: string): string => (HASH.test(text) ? text.toLowerCase() : NOTHING)

/** As stored: EVM addresses in lower case. */
function canonicalAccount(text: string): string {
  if (!ADDRESS.test(text)) return NOTHING
  return EVM_ADDRESS.test(text) ? text.toLowerCase() : text
}

/** As stored: EVM addresses in lower case. */
function canonicalToken(text: string): string {
  const address = canonicalAccount(text)
  return isNative(address) ? nativeAddress : address
}

function canonicalTicker(text: string): string {
  const name = canonicalNetwork(text)
  return NETWORK.test(name) ? name : NOTHING
}
