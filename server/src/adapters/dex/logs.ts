import type { Hex } from 'viem'
import { AppError } from '../../core/domain/errors.ts'
import { hex } from '../chains/evm/node.ts'
import { bytes, count, type Decode, fields, hash, list } from '../chains/evm/replies.ts'
import { failureOf, NodeFailure, type Rpc, refusalOf } from '../chains/evm/rpc.ts'

/** The fields of a log that pools need. Addresses in lower case. */
export type DexLog = Readonly<{
  address: string
  topics: readonly Hex[]
  fields: Hex
  blockHash: string
  height: number
  index: number
}>

const dexLog: Decode<DexLog> = (reply) => {
  const entry = fields(reply)
  return {
    address: bytes(entry['address']),
    topics: list(hash, 4)(entry['topics']) as readonly Hex[],
    fields: bytes(entry['data']),
    blockHash: hash(entry['blockHash']),
    height: count(entry['blockNumber']),
    index: count(entry['logIndex']),
  }
}
const LOGS_MAX = 500_000
const dexLogs = list(dexLog, LOGS_MAX)

export type LogFilter = Readonly<{
  addresses?: readonly string[]
  topics: readonly string[]
  /** The contracts whose logs count, if `addresses` names none: any contract can emit these topics, and as many as fit into a block. */
  emitters?: () => readonly string[]
}>

const filterOf = ({ addresses, topics }: Omit<LogFilter, 'emitters'>) => ({
  ...(addresses === undefined ? {} : { address: addresses }),
  topics: [topics],
})

/** A block in which even one contract has more logs than a node returns. */
export class UnreadableLogs extends AppError {
  /** False: the node refused, which may have another reason. */
  readonly isTooLarge: boolean

  constructor({ message, cause }: AppError) {
    super('NETWORK_UNAVAILABLE', message, { cause })
    this.isTooLarge = cause instanceof NodeFailure
  }
}

/** Our own limit of a reply, or the node's. Each provider has its own error for this, so any refusal counts. */
const exceedsLimit = (error: unknown): error is AppError =>
  failureOf(error)?.isTooLarge === true || refusalOf(error) !== null

/** The logs of each block, by block hash. Throws if the node does not know a block. */
export async function logsOfBlocks(
  rpc: Rpc,
  blockHashes: readonly string[],
  filter: LogFilter,
): Promise<readonly (readonly DexLog[])[]> {
  const calls = blockHashes.map((blockHash) => ({
    method: 'eth_getLogs',
    params: [{ blockHash, ...filterOf(filter) }],
  }))
  try {
    return (await rpc.askMany(calls, dexLogs)).map(inOrder)
  } catch (error) {
    if (!exceedsLimit(error)) throw error
    const blocks: (readonly DexLog[])[] = []
    for (const blockHash of blockHashes) blocks.push(await logsOfBlock(rpc, { blockHash }, filter))
    return blocks
  }
}

type Blocks = Readonly<{ blockHash: string } | { fromBlock: string; toBlock: string }>

const askLogs = async (rpc: Rpc, blocks: Blocks, filter: LogFilter): Promise<readonly DexLog[]> =>
  inOrder(await rpc.ask('eth_getLogs', [{ ...blocks, ...filterOf(filter) }], dexLogs))

/** The logs of one block: of every contract, or if these are too many, of those that count. */
async function logsOfBlock(rpc: Rpc, block: Blocks, filter: LogFilter): Promise<readonly DexLog[]> {
  try {
    return await askLogs(rpc, block, filter)
  } catch (error) {
    if (!exceedsLimit(error)) throw error
    return inOrder(await logsByEmitter(rpc, block, filter, error))
  }
}

/** Addresses in one filter, and the parts into which a filter is divided if its logs are still too many. */
const ADDRESSES_MAX = 500
const PARTS = 8

async function logsByEmitter(
  rpc: Rpc,
  block: Blocks,
  { addresses, topics, emitters }: LogFilter,
  refused: AppError,
): Promise<readonly DexLog[]> {
  const all = addresses ?? emitters?.()
  if (all === undefined || addresses?.length === 1) throw new UnreadableLogs(refused)
  const size = addresses === undefined ? ADDRESSES_MAX : Math.ceil(all.length / PARTS)
  const logs: DexLog[] = []
  for (let n = 0; n < all.length; n += size) {
    const part = { addresses: all.slice(n, n + size), topics }
    for (const log of await logsOfBlock(rpc, block, part)) logs.push(log)
  }
  return logs
}

const inOrder = (logs: readonly DexLog[]): DexLog[] =>
  [...logs].sort((a, b) => a.height - b.height || a.index - b.index)

const RANGE_BEGIN = 2_000
const RANGE_MAX = 50_000

/** Logs of a block range, in parts that grow while the node answers and shrink when it refuses. */
export async function* scanLogs(
  rpc: Rpc,
  from: number,
  to: number,
  filter: LogFilter,
): AsyncGenerator<readonly DexLog[]> {
  let size = RANGE_BEGIN
  for (let start = from; start <= to; ) {
    const end = Math.min(to, start + size - 1)
    try {
      const range = { fromBlock: hex(start), toBlock: hex(end) }
      const logs = start === end ? logsOfBlock(rpc, range, filter) : askLogs(rpc, range, filter)
      yield await logs
      start = end + 1
      size = Math.min(RANGE_MAX, size * 2)
    } catch (error) {
      // Too many blocks or logs.
      if (start === end || (refusalOf(error) === null && failureOf(error) === null)) throw error
      size = Math.max(1, Math.floor((end - start + 1) / 4))
    }
  }
}
