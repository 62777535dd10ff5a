import { canonicalNetwork } from '../domain/catalogue.ts'
import type { Swap } from '../domain/swap/swap.ts'
import { isNative, nativeAddress } from '../domain/swap/token.ts'
import type { SwapQuestion, SwapStore } from '../ports/swaps.ts'
import type { SwapListFilter, SwapServices, SwapView } from './swap-interfaces.ts'
import type { SwapNetworks } from './swap-networks.ts'

export type ListSwapsDeps = Readonly<{ networks: SwapNetworks; swaps: SwapStore }>

/** Rows read at once while a whole list is streamed. */
const CHUNK = 500
/** Of an account or a token on any chain. Anything else matches nothing, and the store never sees it. */
const ADDRESS = /^[A-Za-z0-9:_]{1,256}$/
const NETWORK = /^[a-z0-9-]{1,32}$/
const NOTHING = '-'

/** The partner's swaps of the last 24 hours. Without a page everything is streamed by key range, a chunk at a time. */
export function createListSwaps({ networks, swaps }: ListSwapsDeps): SwapServices['listSwaps'] {
  const view = (swap: Swap): SwapView => {
    const served = networks.find(swap.network)
    // What a network that is not served any more knew of its spelling is lost: addresses as they are kept.
    return { swap, spell: served === null ? (address) => address : served.chain.spell }
  }
  return async (partner, filter, page) => {
    const question = { ...questionOf(filter), partnerId: partner.id }
    const total = await swaps.count(question)
    const rows = page ? onePage(swaps, question, page) : stream(swaps, question, total)
    return { total, rows: views(rows, view) }
  }
}

async function* views(rows: AsyncIterable<Swap>, view: (swap: Swap) => SwapView): AsyncGenerator<SwapView> {
  for await (const swap of rows) yield view(swap)
}

async function* onePage(
  swaps: SwapStore,
  question: SwapQuestion,
  { page, limit }: { page: number; limit: number },
): AsyncGenerator<Swap> {
  yield* await swaps.list(question, null, limit, (page - 1) * limit)
}

/** As many as were counted: a row that arrives meanwhile does not make `total` a lie. */
async function* stream(swaps: SwapStore, question: SwapQuestion, total: number): AsyncGenerator<Swap> {
  let after: { createdAt: Date; id: string } | null = null
  for (let left = total; left > 0; ) {
    const rows: readonly Swap[] = await swaps.list(question, after, Math.min(CHUNK, left), 0)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = { createdAt: last.createdAt, id: last.id }
    left -= rows.length
  }
}

function questionOf({ status, fromTokenAddress, toTokenAddress, network }: SwapListFilter) {
  return {
    ...(status === undefined ? {} : { status }),
    ...(fromTokenAddress === undefined ? {} : { tokenIn: canonicalToken(fromTokenAddress) }),
    ...(toTokenAddress === undefined ? {} : { tokenOut: canonicalToken(toTokenAddress) }),
    ...(network === undefined ? {} : { network: canonicalTicker(network) }),
  }
}

/** As it is kept: on EVM networks in lower case. */
function canonicalToken(text: string): string {
  if (!ADDRESS.test(text)) return NOTHING
  const address = /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : text
  return isNative(address) ? nativeAddress : address
}

function canonicalTicker(text: string): string {
  const name = canonicalNetwork(text)
  return NETWORK.test(name) ? name : NOTHING
}
