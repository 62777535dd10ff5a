import type { Network } from '../../../core/domain/network.ts'
import type { PureChain } from '../../../exchange/ports/chain.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import { assert, present } from '../../../lib/assert.ts'
import { createMemoryAddresses } from './address.ts'
import { createMemoryReader } from './reader.ts'
import { createMemorySender } from './sender.ts'
import type { MemoryWorld } from './world.ts'

export type MemoryChainParts = Readonly<{
  network: Network
  world: MemoryWorld
  publicKeys: PublicKeys
  /** Names of the world's nodes that are asked; all of them unless given. */
  nodes?: readonly string[]
}>

/** A network of the account model that exists in this process alone: for tests, and for benchmarks without a node. */
export function createMemoryChain({
  network,
  world,
  publicKeys,
  nodes: names = [...world.nodes.keys()],
}: MemoryChainParts): PureChain {
  assert(world.network.id === network.id && names.length > 0, 'the world is of this network, and has a node')
  const nodes = names.map((name) => present(world.nodes.get(name), `node ${name}`))
  const addresses = createMemoryAddresses(network, publicKeys)
  return Object.freeze({
    network,
    addresses,
    reader: createMemoryReader(network, nodes),
    sender: createMemorySender(network, nodes, addresses),
  })
}
