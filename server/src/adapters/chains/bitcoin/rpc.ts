import type { JsonRpc, RpcAnswer } from '@swapyard/lib/json-rpc.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import { readEntry, readHash, readInteger } from '../shared/replies.ts'
import {
  type MempoolEntry,
  type NodeBlock,
  type NodeTransaction,
  readAmount,
  readBlock,
  readHashes,
  readMempoolEntry,
  readTransaction,
} from './replies.ts'

/**
 * One node with Bitcoin Core's JSON-RPC and `txindex=1`. `null` means that the node answered "not found". Without a valid
 * answer each call throws NETWORK_UNAVAILABLE.
 */
export type BitcoinNode = Readonly<{
  host: string
  head(): Promise<BlockRef>
  hashAt(height: number): Promise<string | null>
  block(hash: string): Promise<NodeBlock | null>
  /** `confirmations` is -1 for an orphaned block. */
  header(hash: string): Promise<{ height: number; confirmations: number } | null>
  /** In the mempool or in a block. */
  transaction(txid: string): Promise<NodeTransaction | null>
  mempool(): Promise<readonly string[]>
  /** Fee, size and unconfirmed parents of an unconfirmed transaction; null if it is not in the mempool. */
  mempoolEntry(txid: string): Promise<MempoolEntry | null>
  /** Units of an output that is unspent on the best chain, null for any other; ignores the mempool. */
  unspentUnits(outpoint: string): Promise<bigint | null>
  /** Units per 1000 vB for inclusion within so many blocks, by default two; null without an estimate. */
  estimateFeeRate(blocks?: number): Promise<bigint | null>
  /** Minimum units per 1000 vB that the node relays, and that its mempool currently admits. */
  minFeeRate(): Promise<{ relay: bigint; mempool: bigint }>
  send(raw: string): Promise<RpcAnswer>
  /** The node's reason to refuse the bytes, null if it would accept them; `unsupported` without `testmempoolaccept`. */
  checkAcceptance(raw: string): Promise<string | null | 'unsupported'>
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
/** Parallel requests for a block's transactions, if the node cannot return the whole block in one reply. */
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
    mempoolEntry: async (txid) => {
      const reply = await ask('getmempoolentry', [txid], [RPC_ERROR.notFound])
      return reply === null ? null : readMempoolEntry(reply)
    },
    unspentUnits: async (outpoint) => {
      const [txid, vout] = splitOutpoint(outpoint)
      const reply = await ask('gettxout', [txid, vout, false])
      return reply === null ? null : readAmount(readEntry(reply)['value'])
    },
    ...createFeeCalls(ask),
    checkAcceptance: async (raw) => {
      const reply = await ask('testmempoolaccept', [[raw]], [RPC_ERROR.methodNotFound])
      if (reply === null) return 'unsupported'
      const { allowed, 'reject-reason': reason } = readEntry(Array.isArray(reply) ? reply[0] : null)
      return allowed === true ? null : String(reason ?? '')
    },
    send: (raw) => rpc.call('sendrawtransaction', [raw]),
    close: () => rpc.close(),
  } satisfies BitcoinNode)
}

/** Returns null for a null result and for errors with a code in `nullCodes`. */
type Ask = (method: string, params: readonly unknown[], nullCodes?: readonly number[]) => Promise<unknown>

function createAsk(network: Network, rpc: JsonRpc): Ask {
  const unavailable = (method: string, detail: unknown) =>
    new AppError('NETWORK_UNAVAILABLE', `${network.name} cannot be reached now`, {
      cause: new Error(`${rpc.host} ${method}: ${String(detail)}`, { cause: detail }),
    })
  return async (method, params, nullCodes = []) => {
    const answer = await rpc.read(method, params)
    if (answer.kind === 'result') return answer.result
    if (answer.kind === 'unknown') throw unavailable(method, answer.reason)
    if (nullCodes.includes(answer.code)) return null
    throw unavailable(method, `error ${answer.code} ${answer.message}`)
  }
}

function createFeeCalls(ask: Ask): Pick<BitcoinNode, 'estimateFeeRate' | 'minFeeRate'> {
  return {
    estimateFeeRate: async (blocks = ESTIMATE_BLOCKS) => {
      // Bitcoin Cash Node lacks this method; a node with few blocks returns no rate.
      const reply = await ask('estimatesmartfee', [blocks], [RPC_ERROR.methodNotFound, RPC_ERROR.misc])
      const rate = reply === null ? undefined : readEntry(reply)['feerate']
      // Dogecoin Core returns -1 without an estimate.
      return rate === undefined || String(rate).startsWith('-') ? null : readAmount(rate)
    },
    minFeeRate: async () => {
      const [pool, relay] = await Promise.all([ask('getmempoolinfo', []), ask('getnetworkinfo', [])])
      return { mempool: readAmount(readEntry(pool)['mempoolminfee']), relay: readAmount(readEntry(relay)['relayfee']) }
    },
  }
}

function createBlockReader(ask: Ask, transaction: BitcoinNode['transaction']): BitcoinNode['block'] {
  // Dogecoin Core 1.14 accepts only a boolean verbosity (dogecoin/dogecoin#1625) and answers 2 with error -1 or -3.
  let hasVerbosity2 = true
  return async (hash) => {
    if (hasVerbosity2) {
      const errors = [RPC_ERROR.notFound, RPC_ERROR.misc, RPC_ERROR.type, RPC_ERROR.invalidParameter]
      const reply = await ask('getblock', [hash, 2], errors)
      if (reply !== null) return readBlock(reply, hash, readTransaction)
    }
    const reply = await ask('getblock', [hash, true], [RPC_ERROR.notFound])
    if (reply === null) return null
    hasVerbosity2 = false
    const block = readBlock(reply, hash, readHash)
    const transactions: NodeTransaction[] = []
    for (let from = 0; from < block.transactions.length; from += BLOCK_PARALLEL) {
      const batch = await Promise.all(block.transactions.slice(from, from + BLOCK_PARALLEL).map(transaction))
      for (const one of batch) {
        // Orphaned meanwhile.
        if (one === null) return null
        transactions.push(one)
      }
    }
    return { ...block, transactions }
  }
}

export function splitOutpoint(outpoint: string): [txid: string, vout: number] {
  const [txid = '', vout = ''] = outpoint.split(':')
  return [readHash(txid), readInteger(Number.parseInt(vout, 10))]
}
