import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ChainReader, ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import type { RecordedUtxo } from '../../../exchange/ports/spend.ts'
import { assert, InvariantError, present } from '../../../lib/assert.ts'
import { largest, smallest } from '../../../lib/bigint.ts'
import { findAgreedHash, findAgreedHead, firstAnswer, requireAgreedHash } from '../shared/agreement.ts'
import { minOf } from '../shared/min-max.ts'
import { subaddressOf, type WalletKeys } from './keys.ts'
import { listUnspent, type MoneroNode, type NodeTransaction } from './node.ts'
import type { OutputOrigins } from './output-origins.ts'
import { findOutputs, isLocked, keyImageOf, type OwnOutput } from './scan.ts'
import type { WalletOutput, WalletSession } from './wallet.ts'
import type { WalletOutputs } from './wallet-outputs.ts'

/** Maximum fee rate in units per byte: a transaction of 2 kB then costs 0.1 XMR. */
const RATE_MAX = 50_000_000n
/** Pool transactions looked up per call. */
const LOOKUPS_MAX = 500

export type ReaderOptions = Readonly<{
  network: Network
  nodes: readonly MoneroNode[]
  keys: WalletKeys
  origins: OutputOrigins
  outputs: WalletOutputs
  /** null in a process without the seed. */
  wallet: WalletSession | null
}>

/** Reads blocks from the daemons and scans them with our view key; does not rely on a wallet's state (D46). */
export function createReader({ network, nodes, keys, origins, outputs, wallet }: ReaderOptions): ChainReader {
  // The shared secrets of our outputs, kept while their transfer objects exist.
  const secrets = new WeakMap<Transfer, OwnOutput>()
  return {
    head: () => findAgreedHead(network, nodes),
    block: (height) => readBlock(nodes, keys, secrets, height),
    blockOfEachNode: async (height) => {
      const hash = await requireAgreedHash(network, nodes, height)
      return Promise.all(nodes.map(async (node) => scanBlock(keys, secrets, hash, await readNodeBlock(node, hash))))
    },
    mempool: createPoolReader(nodes, keys),
    // Nodes refuse replacements, unconfirmed parents, and less than their own fee estimate.
    inspectPending: async () => ({ stopsClock: true, spends: [], seenAt: null }),
    agrees: async ({ height, hash }) => (await findAgreedHash(nodes, height)) === hash,
    receivedUnits: async (transfer, block) => {
      // It waits: another version of the wallet program may find the output.
      if (outputs.isUnreadable(transfer.identity))
        throw new AppError('NETWORK_UNAVAILABLE', 'the wallet program does not find an output in its transaction', {
          cause: new Error(`${transfer.identity} in ${transfer.txHash}`),
        })
      return minOf(await Promise.all(nodes.map((node) => readReceived(keys, node, transfer, block))))
    },
    tagHeight: async () => null,
    balance: async () => {
      throw new InvariantError('Monero has no balances: sum the unspent outputs in the store')
    },
    feeRate: async () => {
      const rates = await Promise.all(nodes.map((node) => node.feeRate()))
      return { rate: smallest(largest(1n, ...rates), RATE_MAX), tip: 0n }
    },
    outpoint: (transfer, path) => {
      const keyImage = keyImageOf(keys, present(secrets.get(transfer), 'a transfer of this reader'), path)
      origins.record(keyImage, transfer.txHash, subaddressOf(path).index)
      return keyImage
    },
    ...(wallet === null ? {} : { findMissingUtxos: (utxos) => findMissingUtxos(nodes, wallet, outputs, utxos) }),
  }
}

/**
 * Amounts are readable with the keys only, so the wallet program, which scans the chain itself, is asked for them; that the
 * outputs are unspent, all daemons are asked by key image.
 */
async function findMissingUtxos(
  nodes: readonly MoneroNode[],
  wallet: WalletSession,
  outputs: WalletOutputs,
  utxos: readonly RecordedUtxo[],
): Promise<readonly string[]> {
  if (utxos.length === 0) return []
  // Of two outputs with one key the wallet keeps the larger, and the store records the first (D41).
  const isHeld = (held: ReadonlyMap<string, WalletOutput>, { outpoint, units }: RecordedUtxo) =>
    (held.get(outpoint)?.units ?? 0n) >= units
  const unspentImages = await listUnspent(
    nodes,
    utxos.map(({ outpoint }) => outpoint),
  )
  // The wallet program is not asked for the others: it would look for them in vain.
  const unspent = utxos.filter(({ outpoint }) => unspentImages.has(outpoint))
  const inWallet = await wallet.runIfOpen((open) => outputs.compare(open, unspent))
  const found = new Set(unspent.filter((utxo) => isHeld(inWallet, utxo)))
  return utxos.filter((utxo) => !found.has(utxo)).map(({ outpoint }) => outpoint)
}

async function readBlock(
  nodes: readonly MoneroNode[],
  keys: WalletKeys,
  secrets: WeakMap<Transfer, OwnOutput>,
  height: number,
): Promise<ScannedBlock | null> {
  const hash = await findAgreedHash(nodes, height)
  // All nodes agree on the hash, so the first node that answers may serve the block and its transactions.
  return hash === null
    ? null
    : scanBlock(keys, secrets, hash, await firstAnswer(nodes, (node) => readNodeBlock(node, hash)))
}

function scanBlock(
  keys: WalletKeys,
  secrets: WeakMap<Transfer, OwnOutput>,
  hash: string,
  { block, transactions }: NodeBlock,
): ScannedBlock {
  const transfers: Transfer[] = []
  for (const { content } of transactions) {
    for (const output of content === null ? [] : findOutputs(keys, content, block)) {
      secrets.set(output.transfer, output)
      transfers.push(output.transfer)
    }
  }
  const { parentHash, time, coinbase } = block
  // Coinbase outputs are locked for 60 blocks and belong to the miner: they are no deposits.
  const first = { txHash: coinbase, sender: null, nonce: null, spends: [] }
  const others = transactions.map(({ txHash, content }) => ({
    txHash,
    sender: null,
    nonce: null,
    spends: content?.keyImages ?? [],
  }))
  return { height: block.height, hash, parentHash, time, transfers, transactions: [first, ...others] }
}

type NodeBlock = Readonly<{
  block: Awaited<ReturnType<MoneroNode['block']>>
  transactions: readonly NodeTransaction[]
}>

async function readNodeBlock(node: MoneroNode, hash: string): Promise<NodeBlock> {
  const block = await node.block(hash)
  const byHash = new Map((await node.transactions(block.txHashes)).map((one) => [one.txHash, one]))
  const transactions = block.txHashes.map((txHash): NodeTransaction => {
    const transaction = byHash.get(txHash)
    if (transaction) return transaction
    throw new AppError('NETWORK_UNAVAILABLE', 'a node does not find a transaction of a block', {
      cause: new Error(txHash),
    })
  })
  return { block, transactions }
}

/** Unconfirmed transfers from the first node; never credited. Omits double spends and locked outputs. */
function createPoolReader(nodes: readonly MoneroNode[], keys: WalletKeys): ChainReader['mempool'] {
  let reported: ReadonlySet<string> = new Set()
  return async () => {
    const [node] = nodes
    assert(node, 'a chain is read from at least one node')
    const current = await node.poolTxHashes()
    const arrivals = current.filter((txHash) => !reported.has(txHash)).slice(0, LOOKUPS_MAX)
    const transactions = await node.transactions(arrivals)
    // Updated last, so that the next call repeats a failed one.
    const readTxHashes = new Set(arrivals)
    reported = new Set(current.filter((txHash) => reported.has(txHash) || readTxHashes.has(txHash)))
    return transactions.flatMap(({ content, doubleSpend }) =>
      content === null || doubleSpend || content.unlockTime !== 0n
        ? []
        : findOutputs(keys, content, null).map(({ transfer }) => transfer),
    )
  }
}

async function readReceived(
  keys: WalletKeys,
  node: MoneroNode,
  { identity, txHash, address }: Pick<Transfer, 'identity' | 'txHash' | 'address'>,
  block: BlockRef,
): Promise<bigint> {
  const [transaction] = await node.transactions([txHash])
  // The transaction only has a height: check that the block at this height is the given one.
  if (transaction?.height !== block.height || (await node.hashAt(block.height)) !== block.hash)
    throw new AppError('NETWORK_UNAVAILABLE', 'a node does not have a transaction in its block', {
      cause: new Error(`${txHash} in ${block.hash}`),
    })
  const { content } = transaction
  if (content === null) return 0n
  const output = findOutputs(keys, content, null).find(({ transfer }) => transfer.identity === identity)
  if (output?.transfer.address !== address) return 0n
  // `lockConfirmations` is only an estimate for a lock by time.
  if (content.unlockTime !== 0n && isLocked(content.unlockTime, await node.chainTime()))
    throw new AppError('NETWORK_UNAVAILABLE', 'the output is still locked by its sender', {
      cause: new Error(`${txHash} until ${content.unlockTime}`),
    })
  return output.transfer.units
}
