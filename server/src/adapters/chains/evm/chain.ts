import type { Network } from '../../../core/domain/network.ts'
import type { PureChain } from '../../../exchange/ports/chain.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import { assert } from '../../../lib/assert.ts'
import { createEvmAddresses, parseAddress } from './address.ts'
import { type FeeCaps, feeCaps } from './fees.ts'
import { createNode, everyNode, type Note } from './node.ts'
import { createEvmReader } from './reader.ts'
import { type RpcOptions, rpcDefaults } from './rpc.ts'
import { createEvmSender } from './sender.ts'

export type EvmChainParts = Readonly<{
  network: Network
  /** At least two in production: what moves money is believed only where they agree. */
  rpcUrls: readonly string[]
  publicKeys: PublicKeys
  /** Contracts of the catalogue's tokens on this network. */
  tokens: readonly string[]
  rpc?: Partial<RpcOptions>
  caps?: FeeCaps
  /** A token contract that moves the network's own coin; by default the one known for the chain id. */
  coinContract?: string | null
  /** Where the adapter says that it reads with less certainty than it could. */
  note?: Note
}>

export type EvmChain = PureChain & {
  /** Whether coin sent by contracts is seen. Where it isn't, the reconciler's balance check is all there is. */
  tracesAvailable(): Promise<boolean>
}

/** Celo's coin is an ERC-20 as well: wallets send it by `transfer`, which moves the native balance (GoldToken). */
const coinContracts: Readonly<Record<number, string>> = {
  42220: '0x471EcE3750Da237f93B8E339c536989b8978a438',
}

/** One network of the EVM family. Nothing is asked of the nodes until the first call. */
export function createEvmChain(parts: EvmChainParts): EvmChain {
  const { network, rpcUrls, publicKeys, tokens } = parts
  const { evm } = network
  assert(evm !== undefined && rpcUrls.length > 0, `${network.id} has parameters and a node`)
  for (const token of tokens) assert(parseAddress(token) === token, `token ${token} is in canonical form`)
  const coinContract = parts.coinContract ?? coinContracts[evm.chainId] ?? null
  const note = parts.note ?? (() => undefined)
  const options = { ...rpcDefaults, ...parts.rpc }
  const nodes = rpcUrls.map((url, n) => createNode(`${network.id} node ${n + 1}`, url, evm.chainId, options))
  const refused = coinContract === null ? tokens : [...tokens, coinContract]
  const addresses = createEvmAddresses(network, publicKeys, refused)
  return Object.freeze({
    network,
    addresses,
    reader: createEvmReader({ network, nodes, caps: parts.caps ?? feeCaps, scan: { coinContract, note } }),
    sender: createEvmSender({ network, nodes, addresses, note }),
    async tracesAvailable() {
      const offers = await everyNode(nodes, (node) => node.offers())
      return offers.some(({ traces }) => traces !== null)
    },
  })
}
