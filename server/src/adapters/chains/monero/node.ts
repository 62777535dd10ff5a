import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { Http } from '../../../lib/http.ts'
import { createPoolCalls, type PoolCalls } from './pool.ts'
import {
  type Answer,
  call,
  malformed,
  post,
  readEntry,
  readHash,
  readHex,
  readInteger,
  readList,
  readUnits,
} from './rpc.ts'
import type { ChainTime } from './scan.ts'
import { parseTransaction, type Transaction } from './transaction.ts'

export type NodeBlock = BlockRef &
  Readonly<{ parentHash: string; time: number; coinbase: string; txHashes: readonly string[] }>

/** A transaction as a node has it. */
export type NodeTransaction = Readonly<{
  txHash: string
  /** null for what this adapter cannot read: coinbase, and kinds of long ago. */
  content: Transaction | null
  /** null while it waits in the pool. */
  height: number | null
  /** Another one in the pool spends the same. */
  doubleSpend: boolean
}>

/** One monerod. `null` is the node's own "there is none"; no answer, or none that makes sense, is NETWORK_UNAVAILABLE. */
export type MoneroNode = PoolCalls &
  Readonly<{
    url: string
    host: string
    head(): Promise<BlockRef>
    hashAt(height: number): Promise<string | null>
    block(hash: string): Promise<NodeBlock>
    /** Its head, and the time by its blocks. */
    chainTime(): Promise<ChainTime>
    /** Those that the node has, in the pool or in a block of its best chain. */
    transactions(txHashes: readonly string[]): Promise<readonly NodeTransaction[]>
    /** Whether a block of the best chain has spent each of these; the pool does not count. */
    areSpent(keyImages: readonly string[]): Promise<readonly boolean[]>
    /** Units per byte. */
    feeRate(): Promise<bigint>
  }>

/** Of a restricted node. */
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

  const some = async (txHashes: readonly string[]): Promise<readonly NodeTransaction[]> => {
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
    time: async () => {
      const { height, adjusted_time: time } = await ask('get_info')
      return { headHeight: readInteger(height) - 1, time: readInteger(time) }
    },
    transactions: async (txHashes) => {
      const found: NodeTransaction[] = []
      for (let from = 0; from < txHashes.length; from += TRANSACTIONS_MAX) {
        found.push(...(await some(txHashes.slice(from, from + TRANSACTIONS_MAX))))
      }
      return found
    },
    ...createPoolCalls({ http, origin, checked }),
    spent: async (keyImages) => {
      const reply = await askAt('/is_key_image_spent', { key_images: keyImages })
      return readList(reply['spent_status']).map((status) => readInteger(status) === 1)
    },
    feeRate: async () => readUnits((await ask('get_fee_estimate'))['fee']),
  } satisfies MoneroNode)
}

/** The node's hash must be that of its bytes: what a transaction pays is not taken on its word. */
function readTransaction(value: unknown): NodeTransaction {
  const entry = readEntry(value)
  const txHash = readHash(entry['tx_hash'])
  const isWhole = entry['as_hex'] !== undefined && entry['as_hex'] !== ''
  const content = isWhole
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
