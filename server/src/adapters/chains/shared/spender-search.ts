import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import { findAgreedHash } from './agreement.ts'

/** Blocks beyond finality to search for the transaction that spent an output. An operator must name a deeper one. */
const SEARCH_BLOCKS = 144
/** Outputs in the cache of searches. */
const SEARCHES_MAX = 1000

/** A transaction in a block that every node has. */
export type Spender = BlockRef & Readonly<{ txHash: string }>
/** The result for one output: its spender, or no spender up to the block `upTo`. */
type Search = Readonly<{ spender: Spender | null; upTo: BlockRef }>

/**
 * Finds the transaction that spent an output. Searches downwards from height `top`, which every node has, and caches the
 * result: blocks already searched are read again only after a reorganisation. `spenderIn` searches one block by a hash that
 * all nodes agree on, so one node's copy is enough. Outputs are identified as in the chain's family (outpoint, key image).
 */
export function createSpenderSearch(
  network: Pick<Network, 'finalityBlocks'>,
  nodes: Parameters<typeof findAgreedHash>[0],
  spenderIn: (blockHash: string, output: string) => Promise<string | null>,
): (output: string, top: number) => Promise<Spender | null> {
  const searches = new Map<string, Search>()

  async function search(output: string, from: number, to: number): Promise<Spender | null> {
    for (let height = from; height >= to; height--) {
      const hash = await findAgreedHash(nodes, height)
      const txHash = hash === null ? null : await spenderIn(hash, output)
      if (hash !== null && txHash !== null) return { txHash, height, hash }
    }
    return null
  }

  return async (output, top) => {
    const cached = searches.get(output)
    const isValid = cached !== undefined && (await findAgreedHash(nodes, cached.upTo.height)) === cached.upTo.hash
    if (isValid && cached.spender !== null) return cached.spender
    const deepest = Math.max(0, top - network.finalityBlocks - SEARCH_BLOCKS)
    const spender = await search(output, top, isValid ? Math.max(deepest, cached.upTo.height + 1) : deepest)
    const { height, hash } = spender ?? { height: top, hash: (await findAgreedHash(nodes, top)) ?? '' }
    if (searches.size >= SEARCHES_MAX) searches.clear()
    searches.set(output, { spender, upTo: { height, hash } })
    return spender
  }
}
