import type { Network } from '../../src/core/domain/network.ts'
import type { PureChain } from '../../src/exchange/ports/chain.ts'
import type { PublicKeys } from '../../src/exchange/ports/signer.ts'
import { assert, present } from '../../src/lib/assert.ts'
import { createMemoryAddresses } from './address.ts'
import type { MemoryNetwork } from './network.ts'
import { createMemoryReader } from './reader.ts'
import { createMemorySender } from './sender.ts'

export type MemoryChainOptions = Readonly<{
  network: Network
  memoryNetwork: MemoryNetwork
  publicKeys: PublicKeys
  /** Names of the nodes to read from; default: all nodes of the network. */
  nodes?: readonly string[]
}>

/** Chain adapter of a simulated account-based network in this process, for tests and benchmarks without a node. */
export function createMemoryChain({
  network,
  memoryNetwork,
  publicKeys,
  nodes: names = [...memoryNetwork.nodes.keys()],
}: MemoryChainOptions): PureChain {
  assert(
    memoryNetwork.network.id === network.id && names.length > 0,
    'the simulated network has the same id and at least one node',
  )
  const nodes = names.map((name) => present(memoryNetwork.nodes.get(name), `node ${name}`))
  const addresses = createMemoryAddresses(network, publicKeys)
  return Object.freeze({
    network,
    addresses,
    reader: createMemoryReader(network, nodes),
    sender: createMemorySender(network, nodes, addresses),
  })
}
