import type { Network } from '../../../core/domain/network.ts'
import type { PureChain } from '../../../exchange/ports/chain.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import { assert } from '../../../lib/assert.ts'
import { createEvmAddresses, parseAddress } from './address.ts'
import { type FeeCaps, feeCaps } from './fees.ts'
import { createNode, askEveryNode, type Note } from './node.ts'
import { createEvmReader } from './reader.ts'
import { type RpcOptions, rpcDefaults } from './rpc.ts'
import { createEvmSender } from './sender.ts'

export type EvmChainOptions = Readonly<{
  network: Network
  /** At least two in production: what moves money is believed only where they agree. */
  rpcUrls: readonly string[]
  publicKeys: PublicKeys
  /** Contracts of the catalogue's tokens on this network. */
  tokens: readonly string[]
  rpc?: Partial<RpcOptions>
  caps?: FeeCaps
  /** A token contract that moves the network's own coin; by default the one known for the chain id. */
  nativeContract?: string | null
  /** Where the adapter says that it reads with less certainty than it could. */
  note?: Note
}>

export type EvmChain = PureChain & {
  /** Whether coin sent by contracts is seen. Where it isn't, the reconciler's balance check is all there is. */
  hasTraces(): Promise<boolean>
}

/** Celo's coin is an ERC-20 as well: wallets send it by `transfer`, which moves the native balance (GoldToken). */
const nativeContracts: Readonly<Record<number, string>> = {
  42220: '0x471EcE3750Da237f93B8E339c536989b8978a438',
}

/** One network of the EVM family. Nothing is asked of the nodes until the first call. */
export function createEvmChain(parts: EvmChainOptions): EvmChain {
  const { network, rpcUrls, publicKeys, tokens } = parts
  const { evm } = network
  assert(evm !== undefined && rpcUrls.length > 0, `${network.id} has parameters and a node`)
  for (const token of tokens) assert(parseAddress(token) === token, `token ${token} is in canonical form`)
  const nativeContract = parts.nativeContract ?? nativeContracts[evm.chainId] ?? null
  const note = parts.note ?? (() => undefined)
  const options = { ...rpcDefaults, ...parts.rpc }
  const nodes = rpcUrls.map((url, n) => createNode(`${network.id} node ${n + 1}`, url, evm.chainId, options))
  const refused = nativeContract === null ? tokens : [...tokens, nativeContract]
  const addresses = createEvmAddresses(network, publicKeys, refused)
  return Object.freeze({
    network,
    addresses,
    reader: createEvmReader({ network, nodes, caps: parts.caps ?? feeCaps, scan: { nativeContract, note } }),
    sender: createEvmSender({ network, nodes, addresses, note }),
    async hasTraces() {
      const capabilities = await askEveryNode(nodes, (node) => node.capabilities())
      return capabilities.some(({ traces }) => traces !== null)
    },
  })
}
