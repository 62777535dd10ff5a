import { maxOf, minOf } from '../../src/adapters/chains/shared/min-max.ts'
import { AppError } from '../../src/core/domain/errors.ts'
import type { Network } from '../../src/core/domain/network.ts'
import type { BlockRef } from '../../src/core/ports/chain.ts'
import type { ChainReader, Transfer } from '../../src/exchange/ports/chain.ts'
import { smallest } from '../../src/lib/bigint.ts'
import { announcedTransfers } from './block.ts'
import type { MemoryNode } from './node.ts'

/** Priority fee in wei per gas. */
const TIP = 100_000_000n

export function createMemoryReader(network: Network, nodes: readonly MemoryNode[]): ChainReader {
  const mempool = createMempoolReader(nodes)
  return Object.freeze({
    head: async () => agreedHead(network, nodes),
    block: async (height: number) => {
      const [first, ...others] = nodes.map((node) => node.block(height))
      return first && others.every((block) => block?.hash === first.hash) ? first.scanned : null
    },
    blockOfEachNode: async (height: number) => {
      const blocks = nodes.map((node) => node.block(height))
      const [first] = blocks
      if (!first || blocks.some((block) => block?.hash !== first.hash))
        throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network.name} disagree at the moment`)
      return blocks.flatMap((block) => (block ? [block.scanned] : []))
    },
    mempool: async () => mempool(),
    agrees: async (block: BlockRef) => nodes.every((node) => hasBlock(node, block)),
    receivedUnits: async (claim, block) => minOf(nodes.map((node) => readReceived(network, node, claim, block))),
    tagHeight: async () => null,
    balance: async (address, asset) => minOf(nodes.map((node) => node.balance(address, asset.contract))),
    feeRate: async () => {
      return { rate: 2n * maxOf(nodes.map((node) => node.baseFee())) + TIP, tip: TIP }
    },
  } satisfies ChainReader)
}

const hasBlock = (node: MemoryNode, { height, hash }: BlockRef): boolean => node.block(height)?.hash === hash

/** The highest block that all nodes have in common; all share the first block. */
export function agreedHead(network: Network, nodes: readonly MemoryNode[]): BlockRef {
  const heads = nodes.map((node) => node.head())
  for (let height = Math.min(...heads.map((head) => head.height)); height >= 0; height--) {
    const [first, ...others] = nodes.map((node) => node.block(height)?.hash)
    if (first !== undefined && others.every((hash) => hash === first)) return { height, hash: first }
  }
  throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network.name} disagree at the moment`)
}

/** The units that this node's receipt in this block credits, at most the units claimed. */
function readReceived(
  network: Network,
  node: MemoryNode,
  claim: Parameters<ChainReader['receivedUnits']>[0],
  block: BlockRef,
): bigint {
  const status = node.find(claim.txHash)
  // A node without the block proves nothing: throw instead of returning 0.
  if (!hasBlock(node, block) || status === null || status === 'waiting' || status.block.hash !== block.hash) {
    throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network.name} disagree at the moment`, {
      cause: new Error(`node ${node.name} is not on block ${block.hash}`),
    })
  }
  const transfer = status.receipt.transfers.find(({ identity }) => identity === claim.identity)
  if (transfer?.address !== claim.address || transfer.contract !== claim.contract) return 0n
  return smallest(status.receipt.deliveredUnits.get(claim.identity) ?? 0n, claim.units)
}

/** Reports each unconfirmed transfer once, from the first node that has it. Skips silent nodes. */
function createMempoolReader(nodes: readonly MemoryNode[]): () => readonly Transfer[] {
  const marks = new Map<string, number>()
  return () => {
    const sightings = new Map<string, Transfer>()
    for (const node of nodes) {
      try {
        const { transactions, mark } = node.arrivals(marks.get(node.name) ?? 0)
        marks.set(node.name, mark)
        for (const transfer of transactions.flatMap(announcedTransfers)) sightings.set(transfer.identity, transfer)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
      }
    }
    return [...sightings.values()]
  }
}
