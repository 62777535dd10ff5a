import { canonicalNetwork } from '../../core/domain/catalogue.ts'
import { type ListSource, listCounted } from '../../core/services/counted-list.ts'
import type { Swap } from '../domain/swap.ts'
import type { SwapListFilter, SwapServices, SwapView } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { SwapStore } from '../ports/store/swaps.ts'
import type { AddressFormat } from '../ports/swap-chain.ts'

export type ListSwapsDeps = Readonly<{ networks: SwapNetworks; swaps: SwapStore }>

/** Other text matches nothing and is not passed to the store. */
const NETWORK = /^[a-z0-9-]{1,32}$/
const NOTHING = '-'

/** One swap of the partner, of any age. */
export function createFindSwap({ networks, swaps }: ListSwapsDeps): SwapServices['findSwap'] {
  return async (partner, { id, hash }) => {
    const found =
      id === undefined
        ? await swaps.findReported(partner.id, { hashes: hashesOf(networks.formats(), hash ?? '') })
        : await swaps.findReported(partner.id, { id: id.toLowerCase() })
    return found === null ? null : viewOf(networks, found)
  }
}

function viewOf(networks: SwapNetworks, swap: Swap): SwapView {
  const served = networks.find(swap.network)
  // A network that is no longer served has no formatter: addresses stay in their canonical form.
  return { swap, formatAddress: served === null ? (address) => address : served.chain.formatAddress }
}

/** The partner's swaps of the last 24 hours. */
export function createListSwaps({ networks, swaps }: ListSwapsDeps): SwapServices['listSwaps'] {
  const view = (swap: Swap) => viewOf(networks, swap)
  return async (partner, filter, page) => {
    const query = { ...queryOf(networks, filter), partnerId: partner.id }
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

function queryOf(
  networks: SwapNetworks,
  { status, fromTokenAddress, toTokenAddress, network, hash, account, externalId }: SwapListFilter,
) {
  const formats = networks.formats(network)
  const tokensOf = (text: string) => formsOf(formats, (format) => format.parse(text))
  return {
    ...(status === undefined ? {} : { status }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(fromTokenAddress === undefined ? {} : { tokensIn: tokensOf(fromTokenAddress) }),
    ...(toTokenAddress === undefined ? {} : { tokensOut: tokensOf(toTokenAddress) }),
    ...(network === undefined ? {} : { network: canonicalTicker(network) }),
    ...(hash === undefined ? {} : { hashes: hashesOf(formats, hash) }),
    ...(account === undefined ? {} : { senders: formsOf(formats, (format) => format.parseAccount(account)) }),
  }
}

const hashesOf = (formats: readonly AddressFormat[], text: string) =>
  formsOf(formats, (format) => format.parseHash(text))

/** What a text means, each once: it may be an address or hash in several families. */
const formsOf = (
  formats: readonly AddressFormat[],
  parse: (format: AddressFormat) => string | null,
): readonly string[] => [...new Set(formats.flatMap((format) => parse(format) ?? []))]

function canonicalTicker(text: string): string {
  const name = canonicalNetwork(text)
  return NETWORK.test(name) ? name : NOTHING
}
