import { hex } from '../chains/evm/node.ts'
import { count, type Decode, fields, hash, orNull } from '../chains/evm/replies.ts'
import type { Rpc } from '../chains/evm/rpc.ts'

export type Header = Readonly<{ height: number; hash: string; parentHash: string; minedAtMs: number }>

const header: Decode<Header> = (reply) => {
  const block = fields(reply)
  return {
    height: count(block['number']),
    hash: hash(block['hash']),
    parentHash: hash(block['parentHash']),
    minedAtMs: count(block['timestamp']) * 1000,
  }
}

export const latestHeader = (rpc: Rpc): Promise<Header> => rpc.ask('eth_getBlockByNumber', ['latest', false], header)

/** Throws if the node does not know the block. */
export const headerOf = (rpc: Rpc, blockHash: string): Promise<Header> =>
  rpc.ask('eth_getBlockByHash', [blockHash, false], header)

export const headerAt = (rpc: Rpc, height: number): Promise<Header | null> =>
  rpc.ask('eth_getBlockByNumber', [hex(height), false], orNull(header))

/** Headers of the heights `from` to `to`, both included; null if the node does not have one. */
export const headersAt = (rpc: Rpc, from: number, to: number): Promise<readonly (Header | null)[]> =>
  rpc.askMany(
    Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => ({
      method: 'eth_getBlockByNumber',
      params: [hex(from + n), false],
    })),
    orNull(header),
  )
