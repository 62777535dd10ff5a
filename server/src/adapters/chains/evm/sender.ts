import { type Hex, keccak256, parseTransaction, recoverTransactionAddress } from 'viem'
import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BroadcastResult, PureSender } from '../../../exchange/ports/chain.ts'
import type { Payment } from '../../../exchange/ports/spend.ts'
import type { AccountAddresses } from '../shared/account-address.ts'
import { buildTransfer } from '../shared/account-transfer.ts'
import { combineResults } from '../shared/agreement.ts'
import { maxOf } from '../shared/min-max.ts'
import { depositFee, typicalFee } from './fees.ts'
import { askEveryNode, type EvmNode, ethCall, hex, type Note } from './node.ts'
import { observe } from './observe.ts'
import { balanceAt } from './received.ts'
import { bytes, count, hash, orNull, quantity, receipt, transaction } from './replies.ts'
import { failureOf, isRevert, refusalOf } from './rpc.ts'
import { transferCall } from './token.ts'

/** The protocol's gas for a native transfer to an account without code: exact, so it needs no margin. */
const PLAIN_TRANSFER_GAS = 21_000n
/**
 * Margins of an estimate, because the state may change before inclusion: 20 % for a customer's recipient, 10 % for a sweep to
 * our own wallet, whose unused gas stays behind.
 */
const MARGIN_PERCENT = { hot: 120n, change: 120n, deposit: 110n } as const
/** Limits the gas that a recipient's contract may use at our expense. */
const GAS_MAX = 500_000n
/** Limits what a recipient's contract may use in an estimate, where the node's own limit is that of blocks. */
const ESTIMATED_GAS_MAX = 1_000_000n

/** Error codes for a failed call, and for failures of the node: -32000 (geth), -32003 (anvil without gas), -32603 (anvil). */
const failureCodes: ReadonlySet<number> = new Set([-32000, -32003, -32603])
/**
 * Error codes for a rejected transaction: -32000 (geth and derivatives), -32003 (EIP-1474 "transaction rejected"), -32010
 * (Nethermind), -32602 (undecodable). After any other code the outcome is unknown.
 */
const rejectCodes: ReadonlySet<number> = new Set([-32000, -32003, -32010, -32602])

export type EvmSenderOptions = Readonly<{
  network: Network
  nodes: readonly EvmNode[]
  addresses: AccountAddresses
  note: Note
}>

export function createEvmSender({ network, nodes, addresses, note }: EvmSenderOptions): PureSender {
  return Object.freeze({
    gasLimit: async (pay, from) => {
      const limits = await askEveryNode(nodes, (node) =>
        estimate(node, pay, addresses.addressAt(from), MARGIN_PERCENT[from.branch]),
      )
      return maxOf(limits)
    },
    extraGas: async (address) => maxOf(await askEveryNode(nodes, (node) => extraGas(node, address, addresses.hot()))),
    payoutFee: typicalFee,
    depositFee,
    build: (request) => buildTransfer(network, addresses, request),
    broadcast: (raw) => broadcast(nodes, raw),
    observe: (attempt) => observe(nodes, network, attempt, note),
  } satisfies PureSender)
}

/** The gas limit of the transfer by this node's estimate. Throws SIMULATION_FAILED if it would revert. */
async function estimate(node: EvmNode, pay: Payment, from: string, percent: bigint): Promise<bigint> {
  const { contract } = pay.asset
  const balance = await balanceAt(node, from, contract, 'latest')
  // Checked first: otherwise the token's revert would look like a refused recipient.
  if (balance < pay.units) throw new AppError('INSUFFICIENT_LIQUIDITY', `the sender holds less than the transfer`)
  const call =
    contract === null
      ? { from, to: pay.address, value: hex(pay.units) }
      : { from, to: contract, data: transferCall(pay.address, pay.units) }
  const gas = await estimateGas(node, call)
  if (contract !== null) await checkReturn(node, call)
  const limit = contract === null && gas === PLAIN_TRANSFER_GAS ? gas : (gas * percent) / 100n
  if (limit > GAS_MAX) throw simulationFailed(`the transfer needs ${limit} gas, more than ${GAS_MAX}`)
  return limit
}

/** Compared with a payment to ourselves, because on Arbitrum every estimate holds the cost of layer 1. */
async function extraGas(node: EvmNode, to: string, hot: string): Promise<bigint> {
  if ((await node.ask('eth_getCode', [to, 'latest'], bytes)) === '0x') return 0n
  const ask = (recipient: string) => estimateGas(node, { from: hot, to: recipient, value: '0x1' })
  const [gas, plain] = await Promise.all([ask(to), ask(hot)])
  return gas > plain ? gas - plain : 0n
}

type Call = Readonly<{ from: string; to: string }> & Readonly<Record<string, string>>

const estimateGas = (node: EvmNode, call: Call): Promise<bigint> =>
  simulate(node, call.from, () => node.ask('eth_estimateGas', [{ ...call, gas: hex(ESTIMATED_GAS_MAX) }], quantity))

/** Accepts an empty result (old tokens return nothing) and true. Some tokens return false instead of reverting. */
async function checkReturn(node: EvmNode, call: Call): Promise<void> {
  const result = await simulate(node, call.from, () => ethCall(node, call, 'latest'))
  if (result !== '0x' && BigInt(result) !== 1n) throw simulationFailed('the token refuses the transfer')
}

/**
 * Throws SIMULATION_FAILED if the call fails. Only reverts have a code of their own: nodes report an invalid opcode and a
 * lack of gas as they report failures of their own. The call is the cause if the node estimates another payment and refuses
 * this call again. Otherwise a recipient could stop all payouts of the network.
 */
async function simulate<T>(node: EvmNode, from: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal !== null && isRevert(refusal))
      throw simulationFailed(`the transfer would revert on ${node.name}`, refusal)
    if (refusal === null || !failureCodes.has(refusal.code) || !(await estimatesPlainTransfer(node, from))) throw error
  }
  return ask().catch((error: unknown) => {
    const refusal = refusalOf(error)
    throw refusal === null ? error : simulationFailed(`the transfer would fail on ${node.name}`, refusal)
  })
}

/** Whether the node works: it estimates a transfer of nothing from the account to itself. */
function estimatesPlainTransfer(node: EvmNode, from: string): Promise<boolean> {
  return node.ask('eth_estimateGas', [{ from, to: from, value: '0x0' }], quantity).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof AppError)) throw error
      return false
    },
  )
}

function simulationFailed(message: string, cause?: unknown): AppError {
  return new AppError('SIMULATION_FAILED', message, { cause })
}

/** Sends a signed transaction, ours or a user's, to every node. */
export async function broadcast(nodes: readonly EvmNode[], raw: string): Promise<BroadcastResult> {
  const signed = bytes(raw)
  const txHash = keccak256(signed)
  const { nonce = 0 } = parseTransaction(signed)
  const sender = await recoverTransactionAddress({ serializedTransaction: signed as `0x02${string}` })
  return combineResults(await askEveryNode(nodes, (node) => broadcastTo(node, signed, { txHash, sender, nonce })))
}

type SignedParts = Readonly<{ txHash: string; sender: string; nonce: number }>

async function broadcastTo(node: EvmNode, raw: Hex, parts: SignedParts): Promise<BroadcastResult> {
  try {
    const returnedHash = await node.ask('eth_sendRawTransaction', [raw], hash)
    if (returnedHash === parts.txHash) return { kind: 'accepted' }
    return { kind: 'unknown', reason: `${node.name} answered with another hash` }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return classifyError(node, parts, error)
  }
}

/** Looks the hash up after any error: most refusals of repeated bytes mean that the node has the transaction. */
async function classifyError(
  node: EvmNode,
  { txHash, sender, nonce }: SignedParts,
  error: AppError,
): Promise<BroadcastResult> {
  try {
    const [ownReceipt, tx] = await Promise.all([
      node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)),
      node.ask('eth_getTransactionByHash', [txHash], orNull(transaction)),
    ])
    if (ownReceipt !== null || tx !== null) return { kind: 'known' }
    const refusal = refusalOf(error)
    if (refusal === null || !rejectCodes.has(refusal.code)) return { kind: 'unknown', reason: reasonOf(node, error) }
    const next = await node.ask('eth_getTransactionCount', [sender, 'latest'], count)
    return { kind: 'rejected', reason: next > nonce ? `nonce ${nonce} is used` : reasonOf(node, error) }
  } catch (lookupError) {
    if (!(lookupError instanceof AppError)) throw lookupError
    return { kind: 'unknown', reason: reasonOf(node, error) }
  }
}

function reasonOf(node: EvmNode, error: AppError): string {
  const refusal = refusalOf(error)
  if (refusal !== null) return `${node.name}: ${refusal.message}`
  return `${node.name}: ${failureOf(error)?.message ?? 'invalid reply'}`
}
