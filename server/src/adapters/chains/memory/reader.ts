import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ChainReader, Transfer } from '../../../exchange/ports/chain.ts'
import { present } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { announced } from './block.ts'
import type { MemoryNode } from './node.ts'

/** Wei per gas that are offered above the base fee. */
const TIP = 100_000_000n

export function createMemoryReader(network: Network, nodes: readonly MemoryNode[]): ChainReader {
  const mempool = createMempoolReader(nodes)
  return Object.freeze({
    head: async () => agreedHead(network, nodes),
    block: async (height: number) => {
      const [first, ...others] = nodes.map((node) => node.block(height))
      return first && others.every((block) => block?.hash === first.hash) ? first.scanned : null
    },
    mempool: async () => mempool(),
    agrees: async (block: BlockRef) => nodes.every((node) => has(node, block)),
    received: async (claim, block) => lowest(nodes.map((node) => receivedOn(network, node, claim, block))),
    tagged: async () => null,
    balance: async (address, asset) => lowest(nodes.map((node) => node.balance(address, asset.contract))),
    feeRate: async () => {
      const [first = 0n, ...others] = nodes.map((node) => node.baseFee())
      return { rate: 2n * largest(first, ...others) + TIP, tip: TIP }
    },
  } satisfies ChainReader)
}

const has = (node: MemoryNode, { height, hash }: BlockRef): boolean => node.block(height)?.hash === hash

/** The highest block that all nodes have in common: the first block is one. */
export function agreedHead(network: Network, nodes: readonly MemoryNode[]): BlockRef {
  const heads = nodes.map((node) => node.head())
  for (let height = Math.min(...heads.map((head) => head.height)); height >= 0; height--) {
    const [first, ...others] = nodes.map((node) => node.block(height)?.hash)
    if (first !== undefined && others.every((hash) => hash === first)) return { height, hash: first }
  }
  throw new AppError('NETWORK_UNAVAILABLE', `${network.name} is not settled now`)
}

/** By this node's own receipt in this very block: not what was announced, but what was delivered of it. */
function receivedOn(
  network: Network,
  node: MemoryNode,
  claim: Parameters<ChainReader['received']>[0],
  block: BlockRef,
): bigint {
  const found = node.find(claim.txHash)
  // A node that is not on the block says nothing of it: its silence is no proof that nothing came.
  if (!has(node, block) || found === null || found === 'waiting' || found.block.hash !== block.hash) {
    throw new AppError('NETWORK_UNAVAILABLE', `${network.name} is not settled now`, {
      cause: new Error(`node ${node.name} is not on block ${block.hash}`),
    })
  }
  const transfer = found.receipt.transfers.find(({ identity }) => identity === claim.identity)
  if (transfer?.address !== claim.address || transfer.contract !== claim.contract) return 0n
  return smallest(found.receipt.delivered.get(claim.identity) ?? 0n, claim.units)
}

/** A sighting is told once, by whichever node has it first. A silent node is passed over. */
function createMempoolReader(nodes: readonly MemoryNode[]): () => readonly Transfer[] {
  const marks = new Map<string, number>()
  return () => {
    const sighted = new Map<string, Transfer>()
    for (const node of nodes) {
      try {
        const { transactions, mark } = node.arrivals(marks.get(node.name) ?? 0)
        marks.set(node.name, mark)
        for (const transfer of transactions.flatMap(announced)) sighted.set(transfer.identity, transfer)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
      }
    }
    return [...sighted.values()]
  }
}

function lowest(values: readonly bigint[]): bigint {
  const [first, ...others] = values
  return smallest(present(first, 'a node'), ...others)
}
