import pMap from 'p-map'
import { AppError } from '../../../core/domain/errors.ts'
import type { BitcoinParameters, Network } from '../../../core/domain/network.ts'
import type { BlockRef, FeeRate } from '../../../core/ports/chain.ts'
import type { ChainReader, Transfer } from '../../../exchange/ports/chain.ts'
import type { Utxo } from '../../../exchange/ports/spend.ts'
import { InvariantError } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { findAgreedHash, findAgreedHead, firstAnswer, requireAgreedHash } from '../shared/agreement.ts'
import { minOf } from '../shared/min-max.ts'
import { addressOf, parametersOf, parseHexScript } from './address.ts'
import { createMempoolReader, createPendingInspector } from './mempool.ts'
import { type BitcoinNode, splitOutpoint } from './rpc.ts'
import { scanBlock } from './scan.ts'
import { feeRateMax } from './transfer.ts'

/** Fee rate of a node without an estimate: this multiple of the relay fee, or 125 % of the mempool's minimum fee. */
const FALLBACK_RELAY_FEES = 10n
/** Outputs looked up at the same time on each node. */
const LOOKUPS_PARALLEL = 8

export function createReader(network: Network, nodes: readonly BitcoinNode[]): ChainReader {
  const parameters = parametersOf(network)
  return {
    head: () => findAgreedHead(network, nodes),
    block: async (height) => {
      const hash = await findAgreedHash(nodes, height)
      if (hash === null) return null
      // All nodes agree on the hash, so the first node that answers may serve the block.
      const block = await firstAnswer(nodes, (node) => node.block(hash))
      return block && scanBlock(parameters, block)
    },
    blockOfEachNode: async (height) => {
      const hash = await requireAgreedHash(network, nodes, height)
      const blocks = await Promise.all(nodes.map((node) => node.block(hash)))
      return blocks.map((block) => {
        if (block === null)
          throw new AppError('NETWORK_UNAVAILABLE', `a node of ${network.name} has no block ${height}`)
        return scanBlock(parameters, block)
      })
    },
    mempool: createMempoolReader(parameters, nodes),
    inspectPending: createPendingInspector(nodes),
    agrees: async ({ height, hash }) => (await findAgreedHash(nodes, height)) === hash,
    receivedUnits: async (transfer, block) => {
      return minOf(await Promise.all(nodes.map((node) => readReceived(parameters, node, transfer, block))))
    },
    tagHeight: async () => null,
    balance: async () => {
      throw new InvariantError('the bitcoin family has no balances: sum the unspent outputs in the store')
    },
    feeRate: () => readFeeRate(network, nodes),
    evictedFees: (txHashes) => readEvictedFees(nodes, txHashes),
    findMissingUtxos: (utxos) => findMissingUtxos(nodes, utxos),
  }
}

async function findMissingUtxos(nodes: readonly BitcoinNode[], utxos: readonly Utxo[]): Promise<readonly string[]> {
  const isHeld = async ({ outpoint, units }: Utxo) => {
    const answers = await Promise.all(nodes.map((node) => node.unspentUnits(outpoint)))
    return answers.every((answer) => answer === units)
  }
  const held = await pMap(utxos, isHeld, { concurrency: LOOKUPS_PARALLEL })
  return utxos.filter((_, at) => !held[at]).map(({ outpoint }) => outpoint)
}

async function readReceived(
  parameters: BitcoinParameters,
  node: BitcoinNode,
  transfer: Pick<Transfer, 'identity' | 'txHash' | 'address'>,
  block: BlockRef,
): Promise<bigint> {
  const [txid, vout] = splitOutpoint(transfer.identity)
  if (txid !== transfer.txHash) return 0n
  const transaction = await node.transaction(txid)
  // The node's transaction index may lag: this does not prove that nothing was received.
  if (transaction === null)
    throw new AppError('NETWORK_UNAVAILABLE', 'a node does not find a transaction of a block', {
      cause: new Error(txid),
    })
  // The index keeps transactions of orphaned blocks, so check that the block is on the best chain, too.
  if (transaction.blockHash !== block.hash || (await node.hashAt(block.height)) !== block.hash)
    throw new AppError('NETWORK_UNAVAILABLE', 'a node does not have a transaction in its block', {
      cause: new Error(`${txid} in ${block.hash}`),
    })
  if (transaction.coinbase) return 0n
  const output = transaction.outputs.find((candidate) => candidate.vout === vout)
  if (output === undefined || output.tokenCategory !== null) return 0n
  return addressOf(parameters, parseHexScript(output.script)) === transfer.address ? output.units : 0n
}

/** Of the nodes that answer, the highest: the replacement must be accepted by each of them. */
async function readEvictedFees(nodes: readonly BitcoinNode[], txHashes: readonly string[]): Promise<bigint> {
  const lookups = nodes.flatMap((node) => txHashes.map((txHash) => node.mempoolEntry(txHash).catch(() => null)))
  return largest(0n, ...(await Promise.all(lookups)).map((entry) => entry?.evictedUnits ?? 0n))
}

/** The highest estimate of the nodes that answer, capped at `feeRateMax`. */
async function readFeeRate(network: Network, nodes: readonly BitcoinNode[]): Promise<FeeRate> {
  const answers = await Promise.allSettled(nodes.map(readNodeFeeRate))
  const rates = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  if (rates.length === 0) {
    throw new AppError('NETWORK_UNAVAILABLE', `${network.name} cannot be reached now`, { cause: answers })
  }
  const rate = largest(1n, ...rates)
  return { rate: smallest(rate, feeRateMax(parametersOf(network))), tip: 0n }
}

/** The node's estimate, at least the fee rate that it relays and admits to its mempool. */
async function readNodeFeeRate(node: BitcoinNode): Promise<bigint> {
  const [estimate, minimum] = await Promise.all([node.estimateFeeRate(), node.minFeeRate()])
  const fallback = largest(minimum.relay * FALLBACK_RELAY_FEES, (minimum.mempool * 5n) / 4n)
  return largest(estimate ?? fallback, minimum.relay, minimum.mempool)
}
