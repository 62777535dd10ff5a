import { AppError } from '../../../core/domain/errors.ts'
import type { FinalityTag, Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ChainReader, ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import { minOf } from '../shared/min-max.ts'
import { type FeeCaps, readFeeRate } from './fees.ts'
import { askEveryNode, askFirstNode, type EvmNode, hex } from './node.ts'
import { balanceAt, createReceivedReader } from './received.ts'
import { blockHash, blockHeight, count, orNull, pendingTransactions, type TransactionReply } from './replies.ts'
import { refusalOf, unavailable } from './rpc.ts'
import { type BlockMovements, pendingMovements, readBlock, type ScanOptions, scannedBlock } from './scan.ts'
import { parseTransferCall } from './token.ts'

/** Blocks below the lowest head to search for a common block. A deeper fork needs an operator. */
const DISAGREEMENT_MAX = 128
/** Transactions read from a pending block, and hashes of reported ones in the cache. */
const PENDING_MAX = 5_000
const REPORTED_MAX = 20_000

export type EvmReaderOptions = Readonly<{
  network: Network
  nodes: readonly EvmNode[]
  caps: FeeCaps
  scan: ScanOptions
}>

export function createEvmReader({ network, nodes, caps, scan }: EvmReaderOptions): ChainReader {
  const mempool = createPendingReader(nodes)
  const readReceived = createReceivedReader(scan)
  return Object.freeze({
    head: () => findAgreedHead(nodes, Math.min(network.finalityBlocks, DISAGREEMENT_MAX)),
    async block(height: number) {
      const read = await firstBlock(nodes, height, scan)
      return read === null ? null : scannedBlock(read)
    },
    blockOfEachNode: (height: number) => readOfEachNode(nodes, height, scan),
    mempool,
    agrees: (block: BlockRef) => isAgreedBlock(nodes, block),
    receivedUnits: async (transfer, block, readHeldUnits) =>
      minOf(await askEveryNode(nodes, (node) => readReceived(node, transfer, block, readHeldUnits))),
    tagHeight: (tag) => readTaggedHeight(nodes, tag),
    balance: async (address, asset) =>
      minOf(await askEveryNode(nodes, (node) => balanceAt(node, address, asset.contract, 'latest'))),
    minedNonce: async (address: string, of: 'fewest' | 'most' = 'fewest') => {
      const ask = (node: EvmNode) => node.ask('eth_getTransactionCount', [address, 'latest'], count)
      const counts = await askEveryNode(nodes, ask)
      return of === 'fewest' ? Math.min(...counts) : Math.max(...counts)
    },
    feeRate: () => readFeeRate(nodes, network, caps),
  } satisfies ChainReader)
}

export function hashAt(node: EvmNode, height: number): Promise<string | null> {
  return node.ask('eth_getBlockByNumber', [hex(height), false], orNull(blockHash))
}

/** Whether every node has this block at its height. Throws if a node does not answer. */
export async function isAgreedBlock(nodes: readonly EvmNode[], { height, hash }: BlockRef): Promise<boolean> {
  const hashes = await askEveryNode(nodes, (node) => hashAt(node, height))
  return hashes.every((one) => one === hash)
}

/** The highest block that all nodes have in common. */
export async function findAgreedHead(nodes: readonly EvmNode[], depthMax = DISAGREEMENT_MAX): Promise<BlockRef> {
  const heads = await askEveryNode(nodes, (node) => node.ask('eth_blockNumber', [], count))
  const top = Math.min(...heads)
  for (let height = top; height >= Math.max(0, top - depthMax); height--) {
    const [first, ...others] = await askEveryNode(nodes, (node) => hashAt(node, height))
    if (first && others.every((hash) => hash === first)) return { height, hash: first }
  }
  throw unavailable(`the nodes have no common block in the ${depthMax} blocks below ${top}`)
}

/** The lowest height that the tag has on any node; null if a node does not support the tag. */
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

async function readOfEachNode(
  nodes: readonly EvmNode[],
  height: number,
  scan: ScanOptions,
): Promise<readonly ScannedBlock[]> {
  const readings = await askEveryNode(nodes, async (node) => {
    const read = await readBlock(node, height, scan)
    if (read === null) throw unavailable(`${node.name} has no block ${height}`)
    return scannedBlock(read)
  })
  if (readings.some(({ hash }) => hash !== readings[0]?.hash))
    throw unavailable(`the nodes do not agree on block ${height}`)
  return readings
}

/** Reads from nodes with traces first, which also report internal transfers. null only if no node has the height. */
async function firstBlock(
  nodes: readonly EvmNode[],
  height: number,
  scan: ScanOptions,
): Promise<BlockMovements | null> {
  const hasTraces = await Promise.all(
    nodes.map((node) =>
      node.capabilities().then(
        ({ traces }) => traces !== null,
        () => false,
      ),
    ),
  )
  const ordered = [...nodes.filter((_, n) => hasTraces[n]), ...nodes.filter((_, n) => !hasTraces[n])]
  let isMissing = false
  const incomplete: BlockMovements[] = []
  try {
    return await askFirstNode(ordered, async (node) => {
      const read = await readBlock(node, height, scan)
      isMissing ||= read === null
      if (read === null) throw unavailable(`${node.name} has no block ${height} yet`)
      const detail = `block ${read.height} ${read.hash}`
      // `readBlock` notes a missing trace of a node that offers traces.
      if (!read.isTraced && scan.expectsTraces && !hasTraces[nodes.indexOf(node)])
        scan.note({ kind: 'traces-missing', node: node.name, detail })
      if (read.unreadable.length === 0) return read
      incomplete.push(read)
      scan.note({
        kind: 'logs-missing',
        node: node.name,
        detail: `${detail}, transactions ${read.unreadable.join(' ')}`,
      })
      throw unavailable(`${node.name} cannot return all logs of block ${height}`)
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (isMissing) return null
    // No node can ever return them in one reply: the other deposits must not wait.
    if (incomplete[0] !== undefined && incomplete.length === nodes.length) return incomplete[0]
    throw error
  }
}

/** Reports each pending transaction once. The cache is bounded; a repeated report is harmless. */
function createPendingReader(nodes: readonly EvmNode[]): () => Promise<readonly Transfer[]> {
  let reported = new Set<string>()

  function isNew({ hash }: TransactionReply): boolean {
    if (reported.has(hash)) return false
    reported.add(hash)
    return true
  }

  return async () => {
    if (reported.size > REPORTED_MAX) reported = new Set([...reported].slice(REPORTED_MAX / 2))
    const pending = await Promise.all(nodes.map(readPending))
    return pending
      .flat()
      .filter(isNew)
      .flatMap((tx) => pendingMovements(tx, parseTransferCall(tx.input)))
      .map(({ from: _, ...transfer }) => transfer)
  }
}

/** Pending transfers are optional: an empty list if the node fails. */
async function readPending(node: EvmNode): Promise<readonly TransactionReply[]> {
  try {
    const pending = await node.ask('eth_getBlockByNumber', ['pending', true], orNull(pendingTransactions))
    return (pending ?? []).slice(0, PENDING_MAX)
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}
