import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { PureChain } from '../../../exchange/ports/chain.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import { assert } from '../../../lib/assert.ts'
import { createEvmAddresses, parseAddress } from './address.ts'
import { type FeeCaps, feeCapsOf } from './fees.ts'
import { askEveryNode, createNode, type Note } from './node.ts'
import { createEvmReader } from './reader.ts'
import { type RpcOptions, rpcDefaults } from './rpc.ts'
import { createEvmSender } from './sender.ts'

export type EvmChainOptions = Readonly<{
  network: Network
  /** At least two in production: decisions that move money require all nodes to agree. */
  rpcUrls: readonly NodeEndpoint[]
  publicKeys: PublicKeys
  /** Contracts of the catalogue's tokens on this network. */
  tokens: readonly string[]
  rpc?: Partial<RpcOptions>
  caps?: FeeCaps
  /** A token contract that moves the native currency (Celo); default: the known one of the chain id. */
  nativeContract?: string | null
  /** Whether blocks list unexecuted transactions (Sei); default: known by the chain id. */
  listsUnexecuted?: boolean
  /** False where the operator accepts that no node offers traces. Default: true. */
  expectsTraces?: boolean
  /** Reports that the adapter reads with reduced certainty. */
  note?: Note
}>

export type EvmChain = PureChain & {
  /** Whether a node offers traces. Without traces, only the reconciler's balance check detects native transfers from contracts. */
  hasTraces(): Promise<boolean>
}

/** Celo's native currency is also an ERC-20 (GoldToken): its `transfer` moves the native balance. */
const nativeContracts: Readonly<Record<number, string>> = {
  42220: '0x471EcE3750Da237f93B8E339c536989b8978a438',
}

/** Sei lists a transaction with a nonce that is too high, or one that its sender cannot pay, and executes it in a later block. */
const unexecutedListers: ReadonlySet<number> = new Set([1329])

/** Chain adapter of one EVM network. Makes no call to the nodes before the first use. */
export function createEvmChain(options: EvmChainOptions): EvmChain {
  const { network, rpcUrls, publicKeys, tokens } = options
  const { evm } = network
  assert(evm !== undefined && rpcUrls.length > 0, `${network.id} has parameters and a node`)
  for (const token of tokens) assert(parseAddress(token) === token, `token ${token} is in canonical form`)
  const nativeContract = options.nativeContract ?? nativeContracts[evm.chainId] ?? null
  const { expectsTraces = true, listsUnexecuted = unexecutedListers.has(evm.chainId), note = () => undefined } = options
  const rpcOptions = { ...rpcDefaults, ...options.rpc }
  const nodes = rpcUrls.map((url, n) => createNode(`${network.id} node ${n + 1}`, url, evm.chainId, rpcOptions))
  const contracts = nativeContract === null ? tokens : [...tokens, nativeContract]
  const addresses = createEvmAddresses(network, publicKeys, contracts)
  return Object.freeze({
    network,
    addresses,
    reader: createEvmReader({
      network,
      nodes,
      caps: options.caps ?? feeCapsOf(network),
      scan: { tokens: contracts, nativeContract, listsUnexecuted, expectsTraces, note },
    }),
    sender: createEvmSender({ network, nodes, addresses, note }),
    async hasTraces() {
      const capabilities = await askEveryNode(nodes, (node) => node.capabilities())
      return capabilities.some(({ traces }) => traces !== null)
    },
  })
}
