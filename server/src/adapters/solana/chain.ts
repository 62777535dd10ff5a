import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { Network } from '../../core/domain/network.ts'
import type { NodeNote } from '../../core/ports/chain.ts'
import { smallest, U64_MAX } from '../../lib/bigint.ts'
import type { InstructionCall } from '../../swap/ports/aggregator.ts'
import type { SwapBroadcast, SwapChain, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { createSolanaAddressFormat } from './address-format.ts'
import { aggregatorInstructions } from './aggregator-swap.ts'
import { readAggregatorCall } from './check-aggregator.ts'
import {
  createSolanaNodes,
  fieldsOf,
  listOf,
  readAccounts,
  type SolanaNode,
  type SolanaNodes,
  toUnits,
} from './nodes.ts'
import {
  confirmationsAt,
  isBlockhashValid,
  observe,
  readFinalSlot,
  readGreatestHeight,
  readHeightExpiry,
} from './observe.ts'
import { listPaidFees } from './paid-fees.ts'
import { prepare } from './prepare.ts'
import { prepareAggregator } from './prepare-aggregator.ts'
import { wrappedSol } from './program-address.ts'
import { readRecentBlock, readSigned, toSigned } from './read-signed.ts'
import { findReceipt, readPayment } from './receipts.ts'
import { isPayable } from './rent.ts'
import { hashInstructions, swapInstructions } from './swap-instructions.ts'
import { readTokenFacts } from './token-facts.ts'

export type SolanaSwapChainOptions = Readonly<{
  network: Network
  rpcUrls: readonly NodeEndpoint[]
  /** For our own transactions that are too large without. Default: none. */
  lookupTables?: readonly string[]
  note?: (note: NodeNote) => void
}>

const instructionCallOf = ({ aggregatorCall: call }: Pick<SwapOrder, 'aggregatorCall'>): InstructionCall | null =>
  call !== undefined && 'instruction' in call ? call : null

/** Compute units of an aggregator's swap in a few pools, and of what bounds it. */
const UNREPORTED_UNITS = 300_000
const OVERHEAD_UNITS = 30_000

/** Creates the swap chain of Solana. Makes no node call before the first use. */
export function createSolanaSwapChain(options: SolanaSwapChainOptions): SwapChain {
  const { network, rpcUrls, lookupTables = [], note = () => undefined } = options
  const nodes = createSolanaNodes(network.id, rpcUrls, network.genesis)
  const context = {
    ...{ nodes, note },
    network: network.id,
    finalityBlocks: Math.max(network.finalityBlocks, network.confirmations),
  }
  return Object.freeze({
    ...createSolanaAddressFormat(),
    network,
    ...{
      wrapped: wrappedSol,
      unitsMax: U64_MAX,
      spender: null,
      executor: null,
      aggregatorTaker: null,
      paysOthers: false,
    },
    aggregatorGas: { unreported: UNREPORTED_UNITS, overhead: OVERHEAD_UNITS },
    ownContracts: new Set<string>(),
    // A leader drops what it does not include; a validator forwards it for some slots only.
    keepsPending: false,
    areNodesOnNetwork: nodes.areOnNetwork,
    readToken: (address) => readTokenFacts(nodes, address),
    chooseExpiry: async () => null,
    hashCall: (order) => {
      const call = instructionCallOf(order)
      return hashInstructions(call === null ? swapInstructions(order) : aggregatorInstructions(order, call))
    },
    isPayable: (...payment) => isPayable(nodes, ...payment),
    prepare: (order) => {
      const call = instructionCallOf(order)
      return call === null ? prepare(nodes, order, lookupTables) : prepareAggregator(nodes, order, call)
    },
    readAggregatorCall: (transaction, order, programs) => readAggregatorCall(nodes, transaction, order, programs),
    // Its program is a published one; its instruction is bounded by the transaction.
    isKnownCall: async () => true,
    readSigned: (raw) => readSigned(nodes, raw),
    broadcast: (raw) => broadcast(nodes, raw),
    readExpiry: async ({ recentBlock }) => readHeightExpiry(context, recentBlock ?? ''),
    isExpired: async (expiry) => expiry.by === 'height' && (await readGreatestHeight(context)) >= expiry.at,
    observe: (hash, sent) => observe(context, hash, sent),
    findTransaction: async (hash) => {
      const receipt = await findReceipt(nodes, hash)
      return receipt && toSigned(receipt.transaction)
    },
    readPayment: (hash, transfer) => readPayment(nodes, hash, transfer, () => confirmationsAt(context, hash)),
    readFinalHeight: () => readFinalSlot(context),
    listPaidFees: (query) => listPaidFees(nodes, query),
    readBalance: async (address, token) => {
      const [first = 0n, ...others] = await nodes.every((node) => readBalance(node, address, token))
      return smallest(first, ...others)
    },
  } satisfies SwapChain)
}

/**
 * Codes of errors by which a node says that the bytes are no valid transaction: unreadable, and a wrong signature. Others, such as a rate
 * limit, a slot that is behind, or a simulation that was not requested (-32002), say nothing about another node or another time.
 */
const refusals: ReadonlySet<number> = new Set([-32_602, -32_003])

/** Without the node's own simulation: as on other networks, a swap that fails is included, and its fee is paid. */
async function broadcast(nodes: SolanaNodes, raw: string): Promise<SwapBroadcast> {
  const blockhash = readRecentBlock(raw)
  const validity = await nodes.answers((node) => isBlockhashValid(node, blockhash))
  if (!validity.includes(true)) return { kind: 'rejected', reason: 'its recent block is too old', because: 'expired' }
  const answers = await nodes.send('sendTransaction', [raw, { encoding: 'base64', skipPreflight: true }])
  if (answers.some(({ kind }) => kind === 'result')) return { kind: 'accepted' }
  const failures = answers.flatMap((one) => {
    if (one.kind === 'error') return [{ reason: `${one.message} (${one.code})`, isRefusal: refusals.has(one.code) }]
    return one.kind === 'unknown' ? [{ reason: one.reason, isRefusal: false }] : []
  })
  const reason = failures.map((one) => one.reason).join('; ')
  if (!failures.every(({ isRefusal }) => isRefusal)) return { kind: 'unknown', reason }
  return { kind: 'rejected', reason, because: 'other' }
}

async function readBalance(node: SolanaNode, address: string, token: string): Promise<bigint> {
  if (token === wrappedSol) return (await readAccounts(node, [address])).accounts[0]?.lamports ?? 0n
  const options = { encoding: 'jsonParsed', commitment: 'confirmed' }
  const reply = fieldsOf(await node.ask('getTokenAccountsByOwner', [address, { mint: token }, options]))
  return listOf(reply['value']).reduce((sum: bigint, one) => sum + parsedUnits(one), 0n)
}

/** `account.data.parsed.info.tokenAmount.amount`. */
const parsedUnits = (row: unknown): bigint =>
  toUnits(
    ['account', 'data', 'parsed', 'info', 'tokenAmount', 'amount'].reduce(
      (at: unknown, name) => fieldsOf(at)[name],
      row,
    ),
  )
