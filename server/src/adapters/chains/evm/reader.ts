import { AppError } from '../../../core/domain/errors.ts'
import type { FinalityTag, Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ChainReader, Transfer } from '../../../exchange/ports/chain.ts'
import { smallest } from '../../../lib/bigint.ts'
import { of } from './extremes.ts'
import { type FeeCaps, readFeeRate } from './fees.ts'
import { type EvmNode, askEveryNode, askFirstNode, hex } from './node.ts'
import { balanceAt, readReceived } from './received.ts'
import { blockHash, blockHeight, count, orNull, pendingTransactions, type TransactionReply } from './replies.ts'
import { refusalOf, unavailable } from './rpc.ts'
import { type BlockMovements, readBlock, type ScanOptions, scannedBlock, pendingMovements } from './scan.ts'
import { parseTransferCall } from './token.ts'

/** How far below the lowest head a common block is looked for: deeper forks need a person. */
const WALK_MAX = 128
/** Transactions of a pending block that are looked at, and hashes that are remembered. */
const PENDING_MAX = 5_000
const SEEN_MAX = 20_000

export type EvmReaderOptions = Readonly<{
  network: Network
  nodes: readonly EvmNode[]
  caps: FeeCaps
  scan: ScanOptions
}>

export function createEvmReader({ network, nodes, caps, scan }: EvmReaderOptions): ChainReader {
  const mempool = createPendingReader(nodes)
  return Object.freeze({
    head: () => findAgreedHead(nodes, Math.min(network.finalityBlocks, WALK_MAX)),
    async block(height: number) {
      const read = await firstBlock(nodes, height, scan)
      return read === null ? null : scannedBlock(read)
    },
    mempool,
    agrees: (block: BlockRef) => isAgreedBlock(nodes, block),
    receivedUnits: async (transfer, block) =>
      of(smallest, await askEveryNode(nodes, (node) => readReceived(node, transfer, block, scan))),
    tagHeight: (tag) => readTaggedHeight(nodes, tag),
    balance: async (address, asset) =>
      of(smallest, await askEveryNode(nodes, (node) => balanceAt(node, address, asset.contract, 'latest'))),
    feeRate: () => readFeeRate(nodes, network, caps),
  } satisfies ChainReader)
}

export function hashAt(node: EvmNode, height: number): Promise<string | null> {
  return node.ask('eth_getBlockByNumber', [hex(height), false], orNull(blockHash))
}

/** Whether every node has this block at its height. A node that doesn't answer is no disagreement: it fails. */
export async function isAgreedBlock(nodes: readonly EvmNode[], { height, hash }: BlockRef): Promise<boolean> {
  const hashes = await askEveryNode(nodes, (node) => hashAt(node, height))
  return hashes.every((one) => one === hash)
}

/** The highest block that all nodes have in common. */
export async function findAgreedHead(nodes: readonly EvmNode[], walkMax = WALK_MAX): Promise<BlockRef> {
  const heads = await askEveryNode(nodes, (node) => node.ask('eth_blockNumber', [], count))
  const top = Math.min(...heads)
  for (let height = top; height >= Math.max(0, top - walkMax); height--) {
    const [first, ...others] = await askEveryNode(nodes, (node) => hashAt(node, height))
    if (first && others.every((hash) => hash === first)) return { height, hash: first }
  }
  throw unavailable(`the nodes have no common block in ${walkMax} below ${top}`)
}

/** The lowest height of a tag. A node that refuses the question does not have the tag. */
export async function readTaggedHeight(nodes: readonly EvmNode[], tag: FinalityTag): Promise<number | null> {
  const heights = await askEveryNode(nodes, (node) =>
    node.ask('eth_getBlockByNumber', [tag, false], orNull(blockHeight)).catch((error: unknown) => {
      if (refusalOf(error) === null) throw error
      return null
    }),
  )
  return heights.reduce<number | null>(
    (lowest, height) => (lowest === null || height === null ? null : Math.min(lowest, height)),
    Number.POSITIVE_INFINITY,
  )
}

/** Nodes with traces first: they see what the others cannot. null only where no node has the height. */
async function firstBlock(nodes: readonly EvmNode[], height: number, scan: ScanOptions): Promise<BlockMovements | null> {
  const traced = await Promise.all(
    nodes.map((node) =>
      node.capabilities().then(
        ({ traces }) => traces !== null,
        () => false,
      ),
    ),
  )
  const ordered = [...nodes.filter((_, n) => traced[n]), ...nodes.filter((_, n) => !traced[n])]
  let isMissing = false
  try {
    return await askFirstNode(ordered, async (node) => {
      const read = await readBlock(node, height, scan)
      if (read !== null) return read
      isMissing = true
      throw unavailable(`${node.name} has no block ${height} yet`)
    })
  } catch (error) {
    if (isMissing && error instanceof AppError) return null
    throw error
  }
}

/** Remembers what it told, up to a bound, so that a sighting is told once; a repeat after that is harmless. */
function createPendingReader(nodes: readonly EvmNode[]): () => Promise<readonly Transfer[]> {
  let seen = new Set<string>()

  function isNew({ hash }: TransactionReply): boolean {
    if (seen.has(hash)) return false
    seen.add(hash)
    return true
  }

  return async () => {
    if (seen.size > SEEN_MAX) seen = new Set([...seen].slice(SEEN_MAX / 2))
    const pending = await Promise.all(nodes.map(pendingOf))
    return pending
      .flat()
      .filter(isNew)
      .flatMap((tx) => pendingMovements(tx, parseTransferCall(tx.input)))
      .map(({ from: _, ...transfer }) => transfer)
  }
}

/** Sightings are a courtesy: a node that has none to tell is passed over. */
async function pendingOf(node: EvmNode): Promise<readonly TransactionReply[]> {
  try {
    const pending = await node.ask('eth_getBlockByNumber', ['pending', true], orNull(pendingTransactions))
    return (pending ?? []).slice(0, PENDING_MAX)
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}
