import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ChainReader, ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import { assert, InvariantError, present } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { findAgreedHash, findAgreedHead } from '../shared/agreement.ts'
import { type WalletKeys, subaddressOf } from './keys.ts'
import type { MoneroNode, NodeTransaction } from './node.ts'
import type { OutputOrigins } from './output-origins.ts'
import { type OwnOutput, findOutputs, isLocked, keyImageOf } from './scan.ts'

/** Units per byte that the house never exceeds: what 2 kB cost at it is a tenth of a coin. */
const RATE_MAX = 50_000_000n
/** Transactions of the pool looked up by one call. */
const LOOKUPS_MAX = 500

/** Blocks come from the daemons and are opened with the house's view key: no wallet's memory is believed (D46). */
export function createReader(
  network: Network,
  nodes: readonly MoneroNode[],
  keys: WalletKeys,
  origins: OutputOrigins,
): ChainReader {
  // What the recipient knows of an output, for as long as somebody holds its transfer.
  const secrets = new WeakMap<Transfer, OwnOutput>()
  return {
    head: () => findAgreedHead(network, nodes),
    block: (height) => readBlock(nodes, keys, secrets, height),
    mempool: createPoolReader(nodes, keys),
    agrees: async ({ height, hash }) => (await findAgreedHash(nodes, height)) === hash,
    receivedUnits: async (transfer, block) => {
      const answers = await Promise.all(nodes.map((node) => receivedAt(keys, node, transfer, block)))
      const [first = 0n, ...others] = answers
      return smallest(first, ...others)
    },
    tagHeight: async () => null,
    balance: async () => {
      throw new InvariantError('Monero has no balances: the store adds up the unspent outputs')
    },
    feeRate: async () => {
      const rates = await Promise.all(nodes.map((node) => node.feeRate()))
      return { rate: smallest(largest(1n, ...rates), RATE_MAX), tip: 0n }
    },
    outpoint: (transfer, path) => {
      const keyImage = keyImageOf(keys, present(secrets.get(transfer), 'a transfer of this reader'), path)
      origins.note(keyImage, transfer.txHash, subaddressOf(path).index)
      return keyImage
    },
  }
}

async function readBlock(
  nodes: readonly MoneroNode[],
  keys: WalletKeys,
  secrets: WeakMap<Transfer, OwnOutput>,
  height: number,
): Promise<ScannedBlock | null> {
  const hash = await findAgreedHash(nodes, height)
  if (hash === null) return null
  const { block, transactions } = await firstBlock(nodes, hash)
  const seen = new Set<string>()
  const transfers: Transfer[] = []
  for (const { content } of transactions) {
    for (const found of content === null ? [] : findOutputs(keys, content, block)) {
      // One key is spent once, however often it is paid to.
      if (seen.has(found.transfer.identity)) continue
      seen.add(found.transfer.identity)
      secrets.set(found.transfer, found)
      transfers.push(found.transfer)
    }
  }
  const { parentHash, time, coinbase } = block
  // New coins are locked for 60 blocks and go to whoever mines: no customer's deposit is among them.
  const first = { txHash: coinbase, sender: null, nonce: null, spends: [] }
  const others = transactions.map(({ txHash, content }) => ({
    txHash,
    sender: null,
    nonce: null,
    spends: content?.keyImages ?? [],
  }))
  return { height: block.height, hash, parentHash, time, transfers, transactions: [first, ...others] }
}

/** The nodes agreed on the hash: any of them may serve the block, and all of its transactions. */
async function firstBlock(nodes: readonly MoneroNode[], hash: string) {
  let failure: unknown = null
  for (const node of nodes) {
    try {
      const block = await node.block(hash)
      const byHash = new Map((await node.transactions(block.txHashes)).map((one) => [one.txHash, one]))
      const transactions = block.txHashes.map((txHash): NodeTransaction => {
        const found = byHash.get(txHash)
        if (found) return found
        throw new AppError('NETWORK_UNAVAILABLE', 'a node does not find a transaction of a block', {
          cause: new Error(txHash),
        })
      })
      return { block, transactions }
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** Early sightings from the first node; nothing is ever credited by them, and none of what is spent twice or locked. */
function createPoolReader(nodes: readonly MoneroNode[], keys: WalletKeys): ChainReader['mempool'] {
  let known: ReadonlySet<string> = new Set()
  return async () => {
    const [node] = nodes
    assert(node, 'a chain is read from at least one node')
    const listed = await node.pool()
    const arrived = listed.filter((txHash) => !known.has(txHash)).slice(0, LOOKUPS_MAX)
    const transactions = await node.transactions(arrived)
    // Only now: a call that failed is made up for by the next.
    const looked = new Set(arrived)
    known = new Set(listed.filter((txHash) => known.has(txHash) || looked.has(txHash)))
    return transactions.flatMap(({ content, doubleSpend }) =>
      content === null || doubleSpend || content.unlockTime !== 0n
        ? []
        : findOutputs(keys, content, null).map(({ transfer }) => transfer),
    )
  }
}

async function receivedAt(
  keys: WalletKeys,
  node: MoneroNode,
  { identity, txHash, address }: Pick<Transfer, 'identity' | 'txHash' | 'address'>,
  block: BlockRef,
): Promise<bigint> {
  const [transaction] = await node.transactions([txHash])
  // A node remembers a transaction where it is now: the block itself is asked for after.
  if (transaction?.height !== block.height || (await node.hashAt(block.height)) !== block.hash)
    throw new AppError('NETWORK_UNAVAILABLE', 'a node does not have a transaction in its block', {
      cause: new Error(`${txHash} in ${block.hash}`),
    })
  const { content } = transaction
  if (content === null) return 0n
  const found = findOutputs(keys, content, null).find(({ transfer }) => transfer.identity === identity)
  if (found?.transfer.address !== address) return 0n
  // The confirmations that were asked for are an estimate where the lock is a time.
  if (content.unlockTime !== 0n && isLocked(content.unlockTime, await node.time()))
    throw new AppError('NETWORK_UNAVAILABLE', 'the sender has locked this output for longer', {
      cause: new Error(`${txHash} until ${content.unlockTime}`),
    })
  return found.transfer.units
}
