import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { Network } from '../../core/domain/network.ts'
import { smallest, U64_MAX } from '../../lib/bigint.ts'
import type { Dex } from '../../swap/domain/dex.ts'
import type { SwapChain, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { answersOf, firstAnswer, firstAvailable, hideNodeNames } from '../chains/shared/agreement.ts'
import { createSuiAddressFormat, nativeCoin } from './address-format.ts'
import { readAggregatorCall } from './check-aggregator.ts'
import { createSuiNode } from './node.ts'
import { prepare } from './prepare.ts'
import { readSigned } from './read-signed.ts'
import { hashOrder } from './read-swap.ts'
import { readTokenFacts } from './token-facts.ts'
import { broadcast, findTransaction, listPaidFees, observe, readFinalHeight, readPayment } from './track.ts'

export type SuiSwapChainOptions = Readonly<{
  network: Network
  /** At least two in production: the result of a sent swap counts only if all nodes agree. */
  rpcUrls: readonly NodeEndpoint[]
  /** The DEXes over which an aggregator may route. Default: none. */
  dexes?: readonly Dex[]
}>

/** Computation units of an aggregator's swap in a few pools: it is composed as our own. */
const UNREPORTED_UNITS = 3_000

/** The order with the route that it takes. */
function routed<Order extends Omit<SwapOrder, 'ref'>>(order: Order): Order {
  const { aggregatorCall } = order
  return aggregatorCall !== undefined && 'swaps' in aggregatorCall ? { ...order, swaps: aggregatorCall.swaps } : order
}

/** How long an epoch lasts. Its exact end is not known before. */
const DURATION_MS = 24 * 3_600_000
const never = { by: 'never' } as const

/** Swaps on Sui: a transaction calls the pools itself, needs no approval and is valid until an epoch ends. */
export function createSuiSwapChain({ network, rpcUrls, dexes = [] }: SuiSwapChainOptions): SwapChain {
  const nodes = rpcUrls.map((url, n) => createSuiNode(`${network.id} node ${n + 1}`, url, network.genesis))
  const sharedVersions = new Map<string, bigint>()
  const forPartner = <T>(work: Promise<T>) => hideNodeNames(network, work)
  return Object.freeze({
    ...createSuiAddressFormat(),
    network,
    ...{ wrapped: nativeCoin, spender: null, executor: null, aggregatorTaker: null, paysOthers: true },
    aggregatorGas: { unreported: UNREPORTED_UNITS, overhead: 0 },
    unitsMax: U64_MAX,
    ownContracts: new Set<string>(),
    // A node executes a transaction or forgets it.
    keepsPending: false,
    areNodesOnNetwork: async () => (await Promise.all(nodes.map((node) => node.isOnNetwork()))).every(Boolean),
    readToken: (type) => forPartner(readTokenFacts(nodes, network, type)),
    chooseExpiry: (untilMs) =>
      forPartner(
        firstAnswer(nodes, async (node) => {
          const [{ epoch }, startMs] = await Promise.all([node.readTip(), node.readEpochStart()])
          return { by: 'epoch', at: startMs + DURATION_MS > untilMs ? epoch : epoch + 1 }
        }),
      ),
    hashCall: (order) => hashOrder(routed(order)),
    prepare: (order) => forPartner(prepare({ network, nodes, sharedVersions }, routed(order))),
    readAggregatorCall: (...args) => forPartner(firstAnswer(nodes, (node) => readAggregatorCall(node, dexes, ...args))),
    // Its pools are those of listed packages.
    isKnownCall: async () => true,
    readSigned: (raw) => firstAvailable(nodes, (node) => readSigned(raw, node)),
    broadcast: (raw) => broadcast(nodes, raw),
    readExpiry: async ({ action }) => (action?.kind === 'swap' ? (action.expiry ?? never) : never),
    isExpired: async (expiry) => {
      if (expiry.by !== 'epoch') return false
      const tips = await forPartner(answersOf(nodes, (node) => node.readTip()))
      return tips.every(({ epoch }) => epoch > expiry.at)
    },
    observe: (hash, sent) => observe(nodes, hash, sent),
    findTransaction: (hash) => forPartner(findTransaction(nodes, hash)),
    readPayment: (hash, transfer) => readPayment(nodes, hash, transfer),
    readFinalHeight: () => readFinalHeight(nodes, network),
    listPaidFees: (query) => listPaidFees(nodes, query),
    readBalance: async (address, token) => {
      const [first = 0n, ...others] = await Promise.all(nodes.map((node) => node.readBalance(address, token)))
      return smallest(first, ...others)
    },
  } satisfies SwapChain)
}
