import { AppError } from '../../../core/domain/errors.ts'
import type { BitcoinParameters, Network } from '../../../core/domain/network.ts'
import type { BlockRef, FeeRate } from '../../../core/ports/chain.ts'
import type { ChainReader, Transfer } from '../../../exchange/ports/chain.ts'
import { InvariantError } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { agreedHash, agreedHead } from '../shared/agreement.ts'
import { addressOf, parametersOf, parseHexScript } from './address.ts'
import { createMempoolReader } from './mempool.ts'
import type { NodeBlock } from './replies.ts'
import { type BitcoinNode, splitOutpoint } from './rpc.ts'
import { scanBlock } from './scan.ts'
import { feeRateMax } from './transfer.ts'

/** Where no node can estimate: this many times the relay fee, or a quarter above what the full mempool asks. */
const FALLBACK_RELAY_FEES = 10n

export function createReader(network: Network, nodes: readonly BitcoinNode[]): ChainReader {
  const parameters = parametersOf(network)
  return {
    head: () => agreedHead(network, nodes),
    block: async (height) => {
      const hash = await agreedHash(nodes, height)
      if (hash === null) return null
      const block = await firstBlock(nodes, hash)
      return block && scanBlock(parameters, block)
    },
    mempool: createMempoolReader(parameters, nodes),
    agrees: async ({ height, hash }) => (await agreedHash(nodes, height)) === hash,
    received: async (transfer, block) => {
      const answers = await Promise.all(nodes.map((node) => receivedAt(parameters, node, transfer, block)))
      const [first = 0n, ...others] = answers
      return smallest(first, ...others)
    },
    tagged: async () => null,
    balance: async () => {
      throw new InvariantError('the bitcoin family has no balances: the store adds up the unspent outputs')
    },
    feeRate: () => currentFee(network, nodes),
  }
}

/** The nodes agreed on the hash: any of them may serve the block. */
async function firstBlock(nodes: readonly BitcoinNode[], hash: string): Promise<NodeBlock | null> {
  let failure: unknown = null
  for (const node of nodes) {
    try {
      return await node.block(hash)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

async function receivedAt(
  parameters: BitcoinParameters,
  node: BitcoinNode,
  transfer: Pick<Transfer, 'identity' | 'txHash' | 'address'>,
  block: BlockRef,
): Promise<bigint> {
  const [txid, vout] = splitOutpoint(transfer.identity)
  if (txid !== transfer.txHash) return 0n
  const transaction = await node.transaction(txid)
  // An index that is behind is no proof that nothing came.
  if (transaction === null)
    throw new AppError('NETWORK_UNAVAILABLE', 'a node does not find a transaction of a block', {
      cause: new Error(txid),
    })
  // Nodes remember transactions of blocks that left the best chain: the block itself is asked for after.
  if (transaction.blockHash !== block.hash || (await node.hashAt(block.height)) !== block.hash)
    throw new AppError('NETWORK_UNAVAILABLE', 'a node does not have a transaction in its block', {
      cause: new Error(`${txid} in ${block.hash}`),
    })
  if (transaction.coinbase) return 0n
  const output = transaction.outputs.find((candidate) => candidate.vout === vout)
  if (output === undefined) return 0n
  return addressOf(parameters, parseHexScript(output.script)) === transfer.address ? output.units : 0n
}

/** The highest estimate of the nodes that answer, no less than they relay, no more than the house ever pays. */
async function currentFee(network: Network, nodes: readonly BitcoinNode[]): Promise<FeeRate> {
  const answers = await Promise.allSettled(nodes.map(nodeFee))
  const rates = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  if (rates.length === 0) {
    throw new AppError('NETWORK_UNAVAILABLE', `${network.name} cannot be reached now`, { cause: answers })
  }
  const most = feeRateMax(parametersOf(network))
  const rate = largest(1n, ...rates)
  return { rate: smallest(rate, most), tip: 0n }
}

async function nodeFee(node: BitcoinNode): Promise<bigint> {
  const [estimate, least] = await Promise.all([node.estimatedFee(), node.leastFee()])
  const fallback = largest(least.relay * FALLBACK_RELAY_FEES, (least.pool * 5n) / 4n)
  return largest(estimate ?? fallback, least.relay, least.pool)
}
