import { createJsonRpc } from '@swapyard/lib/json-rpc.ts'
import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { PureChain } from '../../../exchange/ports/chain.ts'
import type { CompressedKeys } from '../../../exchange/ports/signer.ts'
import { assert } from '../../../lib/assert.ts'
import { createAddresses } from './address.ts'
import { createReader } from './reader.ts'
import { createBitcoinNode } from './rpc.ts'
import { createSender } from './sender.ts'

export type BitcoinChainOptions = Readonly<{
  network: Network
  /** Nodes with `txindex=1`, credentials in the URL. Decisions that move money require all nodes to agree. */
  rpcUrls: readonly NodeEndpoint[]
  publicKeys: CompressedKeys
  timeoutMs?: number
}>

/** Chain adapter of one network of the bitcoin family. `close` ends the connections to its nodes. */
export function createBitcoinChain(options: BitcoinChainOptions): PureChain & { close(): Promise<void> } {
  const { network, rpcUrls, publicKeys, timeoutMs } = options
  assert(network.family === 'bitcoin', 'the network is of the bitcoin family')
  assert(rpcUrls.length > 0, 'a chain is read from at least one node')
  const nodes = rpcUrls.map((url) => {
    return createBitcoinNode(network, createJsonRpc({ url, ...(timeoutMs === undefined ? {} : { timeoutMs }) }))
  })
  return Object.freeze({
    network,
    addresses: createAddresses(network, publicKeys),
    reader: createReader(network, nodes),
    sender: createSender(network, nodes, publicKeys),
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()))
    },
  })
}
