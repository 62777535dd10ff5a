import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { Network } from '../../core/domain/network.ts'
import { assert } from '../../lib/assert.ts'
import type { SwapChain } from '../../swap/ports/swap-chain.ts'
import { type FeeCaps, feeCapsOf } from '../chains/evm/fees.ts'
import { isNative, nativeAddress } from '../chains/evm/native-coin.ts'
import { askEveryNode, createNode, type Note } from '../chains/evm/node.ts'
import { balanceAt } from '../chains/evm/received.ts'
import { type RpcOptions, rpcDefaults } from '../chains/evm/rpc.ts'
import { hideNodeNames } from '../chains/shared/agreement.ts'
import { minOf } from '../chains/shared/min-max.ts'
import { createEvmAddressFormat } from './address-format.ts'
import { broadcastSwap } from './broadcast.ts'
import { findTransaction } from './find-transaction.ts'
import { listPaidFees, readFinalHeight } from './paid-fees.ts'
import { readPayment } from './payments.ts'
import { hashCall, prepare } from './prepare.ts'
import { readAggregatorCall } from './read-aggregator-call.ts'
import { readSigned } from './read-signed.ts'
import { readTokenFacts } from './token-facts.ts'
import { type Sent, track } from './track.ts'
import { isKnownCall } from './zero-x-settlers.ts'

export type EvmSwapChainOptions = Readonly<{
  network: Network
  /** At least two in production: the result of a sent swap counts only if all nodes agree. */
  rpcUrls: readonly NodeEndpoint[]
  /** The wrapped native token; on Celo the token of the native currency. */
  wrapped: string
  /** The native currency is itself a token, so nothing is wrapped. Default: true on Celo. */
  nativeIsToken?: boolean
  rpc?: Partial<RpcOptions>
  caps?: FeeCaps
  note?: Note
}>

/** Calls during a partner's request. With several nodes, the next node replaces the second attempt. */
const REQUEST_RPC = { timeoutMs: 4_000, attempts: 2 } as const

/** The largest reply is a block with all its transactions. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024

const ownContracts = [
  swapRouter.address.toLowerCase(),
  swapExecutor.address.toLowerCase(),
  externalExecutor.address.toLowerCase(),
] as const

/** Assumed if an aggregator reports no gas: a route over a few pools. */
const UNREPORTED_GAS = 400_000
/** Of our router and executor, and of setting and revoking the aggregator's allowance. */
const OVERHEAD_GAS = 90_000

/** A transaction without a deadline stays valid until its nonce is used. */
const never = { by: 'never' } as const

const UINT256_MAX = (1n << 256n) - 1n

export type EvmSwapChain = ReturnType<typeof createEvmSwapChain>

/** Creates the swap chain of an EVM network. Makes no node call before the first use. */
export function createEvmSwapChain(options: EvmSwapChainOptions) {
  const { network, rpcUrls, caps = feeCapsOf(options.network), note = () => undefined } = options
  const { evm } = network
  assert(evm !== undefined && rpcUrls.length > 0, `${network.id} has parameters and a node`)
  const format = createEvmAddressFormat(evm.nativeContract)
  const wrapped = format.parse(options.wrapped)
  assert(wrapped !== null && wrapped !== nativeAddress, `${network.id} has a wrapped native token`)
  const rpcOptions = { ...rpcDefaults, replyBytesMax: REPLY_BYTES_MAX, ...options.rpc }
  const nodesWith = (rpc: RpcOptions) =>
    rpcUrls.map((url, n) => createNode(`${network.id} node ${n + 1}`, url, evm.chainId, rpc))
  const nodes = nodesWith(rpcOptions)
  const attempts = rpcUrls.length > 1 ? 1 : REQUEST_RPC.attempts
  const requestNodes = nodesWith({ ...rpcOptions, timeoutMs: REQUEST_RPC.timeoutMs, attempts, ...options.rpc })
  const forPartner = <T>(work: Promise<T>) => hideNodeNames(network, work)
  const nativeIsToken = options.nativeIsToken ?? network.id === 'celo'
  const [router, executor, aggregatorTaker] = ownContracts
  return Object.freeze({
    ...format,
    network,
    wrapped,
    spender: router,
    executor,
    aggregatorTaker,
    paysOthers: true,
    unitsMax: UINT256_MAX,
    aggregatorGas: { unreported: UNREPORTED_GAS, overhead: OVERHEAD_GAS },
    ownContracts: new Set<string>(ownContracts),
    keepsPending: true,
    readToken: (address) => forPartner(readTokenFacts(requestNodes, network, address)),
    chooseExpiry: async (untilMs) => ({ by: 'time', at: Math.floor(untilMs / 1000) }),
    hashCall: (order) => hashCall({ wrapped, nativeIsToken }, order),
    prepare: (order) => forPartner(prepare({ network, nodes: requestNodes, caps, wrapped, nativeIsToken }, order)),
    readAggregatorCall: async (transaction, order, contracts) => readAggregatorCall(transaction, order, contracts),
    isKnownCall: async (call, tokenIn) =>
      'calldata' in call && (await forPartner(isKnownCall(requestNodes, call, tokenIn))),
    readSigned: (raw: string) => readSigned(evm.chainId, raw),
    broadcast: async (raw) => broadcastSwap(nodes, readSigned(evm.chainId, raw), raw.toLowerCase()),
    readExpiry: async ({ action }) => (action?.kind === 'swap' ? (action.expiry ?? never) : never),
    isExpired: async (expiry, nowMs) => expiry.by === 'time' && expiry.at * 1000 <= nowMs,
    observe: (hash: string, sent?: Sent) => track(nodes, network, hash, { sent, note }),
    findTransaction: (hash) => forPartner(findTransaction(requestNodes, hash)),
    readFinalHeight: () => readFinalHeight(nodes, network),
    listPaidFees: (query) => listPaidFees(nodes, query),
    readBalance: async (address, token) =>
      minOf(await askEveryNode(nodes, (node) => balanceAt(node, address, isNative(token) ? null : token, 'latest'))),
    readPayment: (hash, transfer) => readPayment({ nodes, network, wrapped, nativeIsToken, note }, hash, transfer),
  } satisfies SwapChain)
}
