import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'

/** Blocks that the search for a common head walks down: nodes further apart are on different chains. */
const DISAGREEMENT_MAX = 100

/** As far as agreement goes, a node that is asked for one block at a time. `hashAt` = null where it has none yet. */
type Node = Readonly<{
  head(): Promise<Readonly<{ height: number }>>
  hashAt(height: number): Promise<string | null>
}>

/** The hash at a height on which every node agrees, or null where one has none yet or another. */
export async function agreedHash(nodes: readonly Pick<Node, 'hashAt'>[], height: number): Promise<string | null> {
  const hashes = await Promise.all(nodes.map((node) => node.hashAt(height)))
  const first = hashes[0] ?? null
  return hashes.every((hash) => hash === first) ? first : null
}

/** The highest block that every node has. Throws NETWORK_UNAVAILABLE where they are too far apart. */
export async function agreedHead(network: Network, nodes: readonly Node[]): Promise<BlockRef> {
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  for (let height = lowest; height >= Math.max(0, lowest - DISAGREEMENT_MAX); height--) {
    const hash = await agreedHash(nodes, height)
    if (hash !== null) return { height, hash }
  }
  throw new AppError('NETWORK_UNAVAILABLE', `${network.name} is not settled now`, {
    cause: new Error(`the nodes share none of ${DISAGREEMENT_MAX} blocks below ${lowest}`),
  })
}
