import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import { agreedHash } from './agreement.ts'

/** How far below the head, beyond finality, a lost output's spender is looked for; deeper ones are named by people. */
const SEARCH_BLOCKS = 144
/** Outputs whose spender, or whose search, is remembered. */
const REMEMBERED_MAX = 1000

/** A transaction in a block that every node has. */
export type Spender = BlockRef & Readonly<{ txHash: string }>
/** What is known of one output: who spent it, or up to which block nobody did. */
type Search = Readonly<{ spender: Spender | null; upTo: BlockRef }>

/**
 * Who spent an output, from the block `lowest`, which every node has, downwards. Blocks that were searched for an output
 * once are not searched for it again while they stand. `spenderIn` reads one block by the hash that every node has at its
 * height: the contents are then the same on all of them. An output is a name that the chain's family gives it.
 */
export function createSpenderSearch(
  network: Pick<Network, 'finalityBlocks'>,
  nodes: Parameters<typeof agreedHash>[0],
  spenderIn: (blockHash: string, output: string) => Promise<string | null>,
): (output: string, lowest: number) => Promise<Spender | null> {
  const searches = new Map<string, Search>()

  async function search(output: string, from: number, to: number): Promise<Spender | null> {
    for (let height = from; height >= to; height--) {
      const hash = await agreedHash(nodes, height)
      const txHash = hash === null ? null : await spenderIn(hash, output)
      if (hash !== null && txHash !== null) return { txHash, height, hash }
    }
    return null
  }

  return async (output, lowest) => {
    const known = searches.get(output)
    const stands = known !== undefined && (await agreedHash(nodes, known.upTo.height)) === known.upTo.hash
    if (stands && known.spender !== null) return known.spender
    const deepest = Math.max(0, lowest - network.finalityBlocks - SEARCH_BLOCKS)
    const spender = await search(output, lowest, stands ? Math.max(deepest, known.upTo.height + 1) : deepest)
    const { height, hash } = spender ?? { height: lowest, hash: (await agreedHash(nodes, lowest)) ?? '' }
    if (searches.size >= REMEMBERED_MAX) searches.clear()
    searches.set(output, { spender, upTo: { height, hash } })
    return spender
  }
}
