import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'

/** Blocks below the lowest head to search for a common block. Nodes that differ further are on different chains. */
const DISAGREEMENT_MAX = 100

/** The calls that agreement needs. `hashAt` returns null above the node's head. */
type Node = Readonly<{
  head(): Promise<Readonly<{ height: number }>>
  hashAt(height: number): Promise<string | null>
}>

/** The block hash at a height if all nodes agree on it, else null. */
export async function findAgreedHash(nodes: readonly Pick<Node, 'hashAt'>[], height: number): Promise<string | null> {
  const hashes = await Promise.all(nodes.map((node) => node.hashAt(height)))
  const first = hashes[0] ?? null
  return hashes.every((hash) => hash === first) ? first : null
}

/** The highest block that every node has. Throws NETWORK_UNAVAILABLE without one within `DISAGREEMENT_MAX`. */
export async function findAgreedHead(network: Network, nodes: readonly Node[]): Promise<BlockRef> {
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  for (let height = lowest; height >= Math.max(0, lowest - DISAGREEMENT_MAX); height--) {
    const hash = await findAgreedHash(nodes, height)
    if (hash !== null) return { height, hash }
  }
  throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network.name} disagree at the moment`, {
    cause: new Error(`the nodes have no common block in the ${DISAGREEMENT_MAX} blocks below ${lowest}`),
  })
}
