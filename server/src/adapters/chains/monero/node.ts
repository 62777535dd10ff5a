import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { Http } from '../../../lib/http.ts'
import { malformed, readEntry, readHash, readInteger } from '../shared/replies.ts'
import { createPoolCalls, type PoolCalls } from './pool.ts'
import { type Answer, call, post, readHex, readList, readUnits } from './rpc.ts'
import type { ChainTime } from './scan.ts'
import { parseTransaction, type Transaction } from './transaction.ts'

export type NodeBlock = BlockRef &
  Readonly<{ parentHash: string; time: number; coinbase: string; txHashes: readonly string[] }>

/** A transaction in a node's reply. */
export type NodeTransaction = Readonly<{
  txHash: string
  /** null for transactions that this adapter cannot parse: coinbase and old types. */
  content: Transaction | null
  /** null while in the pool. */
  height: number | null
  /** Another pool transaction spends the same key image. */
  doubleSpend: boolean
}>

/** One monerod. `null` means that the node answered "not found". Without a valid answer each call throws NETWORK_UNAVAILABLE. */
export type MoneroNode = PoolCalls &
  Readonly<{
    url: string
    host: string
    head(): Promise<BlockRef>
    hashAt(height: number): Promise<string | null>
    block(hash: string): Promise<NodeBlock>
    /** The head's height and the chain's time. */
    chainTime(): Promise<ChainTime>
    /** The transactions that the node has, in its pool or on its best chain. */
    transactions(txHashes: readonly string[]): Promise<readonly NodeTransaction[]>
    /** Whether each key image is spent on the best chain; ignores the pool. */
    areSpent(keyImages: readonly string[]): Promise<readonly boolean[]>
    /** Units per byte. */
    feeRate(): Promise<bigint>
  }>

/** The key images that no node has as spent on its best chain. */
export async function listUnspent(
  nodes: readonly Pick<MoneroNode, 'areSpent'>[],
  keyImages: readonly string[],
): Promise<ReadonlySet<string>> {
  const answers = await Promise.all(nodes.map((node) => node.areSpent(keyImages)))
  return new Set(keyImages.filter((_image, at) => answers.every((answer) => answer[at] === false)))
}

/** Transactions per call, the limit of a restricted node. */
const TRANSACTIONS_MAX = 100
const TOO_HIGH = -2

export function createMoneroNode(network: Network, http: Http, rpcUrl: string): MoneroNode {
  const origin = rpcUrl.replace(/\/+$/, '')
  const host = new URL(rpcUrl).host
  const unavailable = (method: string, detail: string) =>
    new AppError('NETWORK_UNAVAILABLE', `${network.name} cannot be reached now`, {
      cause: new Error(`${host} ${method}: ${detail}`),
    })
  const checked = (method: string, answer: Answer) => {
    if (answer.kind === 'unknown') throw unavailable(method, answer.reason)
    if (answer.kind === 'error') throw unavailable(method, `error ${answer.code} ${answer.message}`)
    if (answer.result['status'] !== 'OK') throw unavailable(method, `status ${String(answer.result['status'])}`)
    return answer.result
  }
  const ask = async (method: string, params: Readonly<Record<string, unknown>> = {}) =>
    checked(method, await post(http, `${origin}/json_rpc`, call(method, params)))
  const askAt = async (path: string, body: Readonly<Record<string, unknown>>) =>
    checked(path, await post(http, `${origin}${path}`, body))

  const readTransactions = async (txHashes: readonly string[]): Promise<readonly NodeTransaction[]> => {
    const reply = await askAt('/get_transactions', { txs_hashes: txHashes, prune: true })
    return readList(reply['txs']).map(readTransaction)
  }
  return Object.freeze({
    url: origin,
    host,
    head: async () => {
      const header = readEntry((await ask('get_last_block_header'))['block_header'])
      return { height: readInteger(header['height']), hash: readHash(header['hash']) }
    },
    hashAt: async (height) => {
      const answer = await post(http, `${origin}/json_rpc`, call('get_block_header_by_height', { height }))
      if (answer.kind === 'error' && answer.code === TOO_HIGH) return null
      return readHash(readEntry(checked('get_block_header_by_height', answer)['block_header'])['hash'])
    },
    block: async (hash) => {
      const reply = await ask('get_block', { hash })
      const header = readEntry(reply['block_header'])
      return {
        height: readInteger(header['height']),
        hash: readHash(header['hash']),
        parentHash: readHash(header['prev_hash']),
        time: readInteger(header['timestamp']),
        coinbase: readHash(header['miner_tx_hash']),
        txHashes: readList(reply['tx_hashes']).map(readHash),
      }
    },
    chainTime: async () => {
      const { height, adjusted_time: time } = await ask('get_info')
      return { headHeight: readInteger(height) - 1, time: readInteger(time) }
    },
    transactions: async (txHashes) => {
      const transactions: NodeTransaction[] = []
      for (let from = 0; from < txHashes.length; from += TRANSACTIONS_MAX) {
        transactions.push(...(await readTransactions(txHashes.slice(from, from + TRANSACTIONS_MAX))))
      }
      return transactions
    },
    ...createPoolCalls({ http, origin, checked }),
    areSpent: async (keyImages) => {
      const reply = await askAt('/is_key_image_spent', { key_images: keyImages })
      return readList(reply['spent_status']).map((status) => readInteger(status) === 1)
    },
    feeRate: async () => readUnits((await ask('get_fee_estimate'))['fee']),
  } satisfies MoneroNode)
}

/** Checks that the bytes have the hash that the node states. */
function readTransaction(value: unknown): NodeTransaction {
  const entry = readEntry(value)
  const txHash = readHash(entry['tx_hash'])
  const isUnpruned = entry['as_hex'] !== undefined && entry['as_hex'] !== ''
  const content = isUnpruned
    ? parseTransaction(readHex(entry['as_hex']), null)
    : parseTransaction(readHex(entry['pruned_as_hex']), readHex(entry['prunable_hash']))
  if (content !== null && content.txHash !== txHash) throw malformed('transaction')
  const inPool = entry['in_pool'] === true
  return {
    txHash,
    content,
    height: inPool ? null : readInteger(entry['block_height']),
    doubleSpend: entry['double_spend_seen'] === true,
  }
}
