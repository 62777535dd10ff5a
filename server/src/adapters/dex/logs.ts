import type { Hex } from 'viem'
import { hex } from '../chains/evm/node.ts'
import { bytes, count, type Decode, fields, hash, list } from '../chains/evm/replies.ts'
import { failureOf, type Rpc, refusalOf } from '../chains/evm/rpc.ts'

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

export type LogFilter = Readonly<{ addresses?: readonly string[]; topics: readonly string[] }>

const filterOf = ({ addresses, topics }: LogFilter) => ({
  ...(addresses === undefined ? {} : { address: addresses }),
  topics: [topics],
})

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
  return (await rpc.askMany(calls, dexLogs)).map(inOrder)
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
      const range = { fromBlock: hex(start), toBlock: hex(end), ...filterOf(filter) }
      const logs = await rpc.ask('eth_getLogs', [range], dexLogs)
      yield inOrder(logs)
      start = end + 1
      size = Math.min(RANGE_MAX, size * 2)
    } catch (error) {
      // Too many blocks or logs. Each provider has its own error for this, so any refusal counts.
      if (start === end || (refusalOf(error) === null && failureOf(error) === null)) throw error
      size = Math.max(1, Math.floor((end - start + 1) / 4))
    }
  }
}
