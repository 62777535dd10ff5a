import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { JsonRpc, RpcAnswer } from '../../../lib/json-rpc.ts'
import type { NodeBlock, NodeTransaction } from './replies.ts'
import { readBlock, readCoins, readEntry, readHash, readHashes, readInteger, readTransaction } from './replies.ts'

/**
 * One node that speaks Bitcoin Core's JSON-RPC. Needs `txindex=1`. `null` is the node's own "there is none"; no answer,
 * or one that makes no sense, is NETWORK_UNAVAILABLE.
 */
export type BitcoinNode = Readonly<{
  host: string
  head(): Promise<BlockRef>
  hashAt(height: number): Promise<string | null>
  block(hash: string): Promise<NodeBlock | null>
  /** Confirmations are below 1 for a block that left the best chain. */
  header(hash: string): Promise<{ height: number; confirmations: number } | null>
  /** In the mempool or in a block. */
  transaction(txid: string): Promise<NodeTransaction | null>
  mempool(): Promise<readonly string[]>
  /** Whether an output is unspent in the chain; the mempool does not count. */
  unspent(outpoint: string): Promise<boolean>
  /** Units per 1000 vB to be mined within two blocks; null where the node cannot say. */
  estimatedFee(): Promise<bigint | null>
  /** The least per 1000 vB that the node relays, and takes into its mempool as full as it is now. */
  leastFee(): Promise<{ relay: bigint; pool: bigint }>
  send(raw: string): Promise<RpcAnswer>
  close(): Promise<void>
}>

/** Bitcoin Core, src/rpc/protocol.h. */
export const RPC_ERROR = {
  misc: -1,
  type: -3,
  notFound: -5,
  invalidParameter: -8,
  deserialization: -22,
  verify: -25,
  rejected: -26,
  alreadyInChain: -27,
  methodNotFound: -32_601,
} as const

const ESTIMATE_BLOCKS = 2
/** Transactions of one block asked for at once, where the node cannot give the block in one reply. */
const BLOCK_PARALLEL = 8

export function createBitcoinNode(network: Network, rpc: JsonRpc): BitcoinNode {
  const ask = createAsk(network, rpc)
  const transaction = async (txid: string) => {
    const reply = await ask('getrawtransaction', [txid, true], [RPC_ERROR.notFound])
    return reply === null ? null : readTransaction(reply)
  }
  return Object.freeze({
    host: rpc.host,
    head: async () => {
      const reply = readEntry(await ask('getblockchaininfo', []))
      return { height: readInteger(reply['blocks']), hash: readHash(reply['bestblockhash']) }
    },
    hashAt: async (height) => {
      const reply = await ask('getblockhash', [height], [RPC_ERROR.invalidParameter])
      return reply === null ? null : readHash(reply)
    },
    block: createBlockReader(ask, transaction),
    header: async (hash) => {
      const reply = await ask('getblockheader', [hash, true], [RPC_ERROR.notFound])
      if (reply === null) return null
      const header = readEntry(reply)
      return { height: readInteger(header['height']), confirmations: readInteger(header['confirmations'], -1) }
    },
    transaction,
    mempool: async () => readHashes(await ask('getrawmempool', [])),
    unspent: async (outpoint) => {
      const [txid, vout] = splitOutpoint(outpoint)
      return (await ask('gettxout', [txid, vout, false])) !== null
    },
    ...feeReads(ask),
    send: (raw) => rpc.call('sendrawtransaction', [raw]),
    close: () => rpc.close(),
  } satisfies BitcoinNode)
}

/** Errors whose code is in `none` are answered with null; so is a result of null. */
type Ask = (method: string, params: readonly unknown[], none?: readonly number[]) => Promise<unknown>

function createAsk(network: Network, rpc: JsonRpc): Ask {
  const unavailable = (method: string, detail: unknown) =>
    new AppError('NETWORK_UNAVAILABLE', `${network.name} cannot be reached now`, {
      cause: new Error(`${rpc.host} ${method}: ${String(detail)}`, { cause: detail }),
    })
  return async (method, params, none = []) => {
    const answer = await rpc.read(method, params)
    if (answer.kind === 'result') return answer.result
    if (answer.kind === 'unknown') throw unavailable(method, answer.reason)
    if (none.includes(answer.code)) return null
    throw unavailable(method, `error ${answer.code} ${answer.message}`)
  }
}

function feeReads(ask: Ask): Pick<BitcoinNode, 'estimatedFee' | 'leastFee'> {
  return {
    estimatedFee: async () => {
      // Bitcoin Cash Node has no such method; a young node answers without a rate.
      const reply = await ask('estimatesmartfee', [ESTIMATE_BLOCKS], [RPC_ERROR.methodNotFound, RPC_ERROR.misc])
      const rate = reply === null ? undefined : readEntry(reply)['feerate']
      // Dogecoin Core says -1 where it does not know.
      return rate === undefined || String(rate).startsWith('-') ? null : readCoins(rate)
    },
    leastFee: async () => {
      const [pool, relay] = await Promise.all([ask('getmempoolinfo', []), ask('getnetworkinfo', [])])
      return { pool: readCoins(readEntry(pool)['mempoolminfee']), relay: readCoins(readEntry(relay)['relayfee']) }
    },
  }
}

function createBlockReader(ask: Ask, transaction: BitcoinNode['transaction']): BitcoinNode['block'] {
  // Dogecoin Core 1.14 knows true and false alone (dogecoin/dogecoin#1625), and says so by -1 or -3.
  let whole = true
  return async (hash) => {
    if (whole) {
      const errors = [RPC_ERROR.notFound, RPC_ERROR.misc, RPC_ERROR.type, RPC_ERROR.invalidParameter]
      const reply = await ask('getblock', [hash, 2], errors)
      if (reply !== null) return readBlock(reply, hash, readTransaction)
    }
    const reply = await ask('getblock', [hash, true], [RPC_ERROR.notFound])
    if (reply === null) return null
    whole = false
    const txids = readBlock(reply, hash, readHash)
    const transactions: NodeTransaction[] = []
    for (let from = 0; from < txids.transactions.length; from += BLOCK_PARALLEL) {
      const some = await Promise.all(txids.transactions.slice(from, from + BLOCK_PARALLEL).map(transaction))
      for (const one of some) {
        // Reorganised away in between.
        if (one === null) return null
        transactions.push(one)
      }
    }
    return { ...txids, transactions }
  }
}

export function splitOutpoint(outpoint: string): [txid: string, vout: number] {
  const [txid = '', vout = ''] = outpoint.split(':')
  return [readHash(txid), readInteger(Number.parseInt(vout, 10))]
}
