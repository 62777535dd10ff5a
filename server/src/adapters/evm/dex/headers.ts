import { count, type Decode, fields, hash, orNull } from '../replies.ts'
import type { Rpc } from '../rpc.ts'

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

/** Fails where the node does not know the block. */
export const headerOf = (rpc: Rpc, blockHash: string): Promise<Header> =>
  rpc.ask('eth_getBlockByHash', [blockHash, false], header)

export const headerAt = (rpc: Rpc, height: number): Promise<Header | null> =>
  rpc.ask('eth_getBlockByNumber', [`0x${height.toString(16)}`, false], orNull(header))
