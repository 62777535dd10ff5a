import type { BlockRef } from '../../../core/ports/chain.ts'
import type { Http } from '../../../lib/http.ts'
import { readEntry, readHash, readInteger } from '../shared/replies.ts'
import { type Answer, call, post, readList, TIMEOUT_MS } from './rpc.ts'

/** `failed`: the block at which the node's check of the transaction failed; null if it did not fail. */
export type PoolEntry = Readonly<{ failed: BlockRef | null }>
/** `key`: the one-time public key. */
export type ChainOutput = Readonly<{ key: string; height: number; unlocked: boolean }>

/** The node's calls about its transaction pool. */
export type PoolCalls = Readonly<{
  poolTxHashes(): Promise<readonly string[]>
  send(raw: string): Promise<Answer>
  /** The pool entry of a transaction; null if not in the pool. A restricted node does not answer. */
  poolEntry(txHash: string): Promise<PoolEntry | null | 'restricted'>
  /** Removes this transaction from the pool. */
  flush(txHash: string): Promise<'done' | 'restricted'>
  /** Outputs by their global indices; null if one of them does not exist. */
  outputs(indices: readonly bigint[]): Promise<readonly ChainOutput[] | null>
}>

const NO_METHOD = -32601
const NO_HASH = '0'.repeat(64)

type Calls = Readonly<{
  http: Http
  origin: string
  checked(method: string, answer: Answer): Readonly<Record<string, unknown>>
}>

export function createPoolCalls({ http, origin, checked }: Calls): PoolCalls {
  return {
    poolTxHashes: async () => {
      const answer = await post(http, `${origin}/get_transaction_pool_hashes`, {})
      return readList(checked('/get_transaction_pool_hashes', answer)['tx_hashes']).map(readHash)
    },
    send: (raw) =>
      post(
        http,
        `${origin}/send_raw_transaction`,
        { tx_as_hex: raw, do_sanity_checks: true },
        { timeoutMs: TIMEOUT_MS * 2 },
      ),
    poolEntry: async (txHash) => {
      const answer = await post(http, `${origin}/get_transaction_pool`, {})
      if (answer.kind === 'unknown' && answer.reason === 'status 404') return 'restricted'
      const all = readList(checked('/get_transaction_pool', answer)['transactions']).map(readEntry)
      const entry = all.find(({ id_hash: hash }) => hash === txHash)
      return entry === undefined ? null : readPoolEntry(entry)
    },
    flush: async (txHash) => {
      const answer = await post(http, `${origin}/json_rpc`, call('flush_txpool', { txids: [txHash] }))
      if (answer.kind === 'error' && answer.code === NO_METHOD) return 'restricted'
      checked('flush_txpool', answer)
      return 'done'
    },
    outputs: async (indices) => {
      const outputs = indices.map((index) => ({ amount: 0, index }))
      const answer = await post(http, `${origin}/get_outs`, { outputs, get_txid: false })
      if (answer.kind === 'result' && answer.result['status'] === 'Failed') return null
      return readList(checked('/get_outs', answer)['outs'])
        .map(readEntry)
        .map(({ key, height, unlocked }) => ({
          key: readHash(key),
          height: readInteger(height),
          unlocked: unlocked === true,
        }))
    },
  }
}

function readPoolEntry(entry: Readonly<Record<string, unknown>>): PoolEntry {
  const hash = readHash(entry['last_failed_id_hash'])
  return { failed: hash === NO_HASH ? null : { height: readInteger(entry['last_failed_height']), hash } }
}
