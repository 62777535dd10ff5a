import type { BlockRef } from '../../../core/ports/chain.ts'
import type { Http } from '../../../lib/http.ts'
import { type Answer, call, post, readEntry, readHash, readInteger, readList, TIMEOUT_MS } from './rpc.ts'

/** `failed`: the block on which the node found that it cannot be mined. */
export type PoolEntry = Readonly<{ failed: BlockRef | null }>
export type ChainOutput = Readonly<{ height: number; unlocked: boolean }>

/** What a node says and does about what waits in its pool. */
export type PoolCalls = Readonly<{
  poolTxHashes(): Promise<readonly string[]>
  send(raw: string): Promise<Answer>
  /** What it says of a transaction in its pool; null = it has none such. A restricted node says nothing. */
  poolEntry(txHash: string): Promise<PoolEntry | null | 'restricted'>
  /** Takes one transaction out of the pool, and nothing else. */
  flush(txHash: string): Promise<'done' | 'restricted'>
  /** The blocks of outputs by their numbers; null where one of them is not there. */
  outputs(numbers: readonly bigint[]): Promise<readonly ChainOutput[] | null>
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
    pool: async () => {
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
    outputs: async (numbers) => {
      const outputs = numbers.map((index) => ({ amount: 0, index }))
      const answer = await post(http, `${origin}/get_outs`, { outputs, get_txid: false })
      if (answer.kind === 'result' && answer.result['status'] === 'Failed') return null
      return readList(checked('/get_outs', answer)['outs'])
        .map(readEntry)
        .map(({ height, unlocked }) => ({ height: readInteger(height), unlocked: unlocked === true }))
    },
  }
}

function readPoolEntry(entry: Readonly<Record<string, unknown>>): PoolEntry {
  const hash = readHash(entry['last_failed_id_hash'])
  return { failed: hash === NO_HASH ? null : { height: readInteger(entry['last_failed_height']), hash } }
}
