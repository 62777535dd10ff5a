import { type Hex, keccak256, parseTransaction, recoverTransactionAddress } from 'viem'
import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BroadcastResult, PureSender } from '../../../exchange/ports/chain.ts'
import type { Payment } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'
import type { EvmAddresses } from './address.ts'
import { of } from './extremes.ts'
import { type EvmNode, ethCall, askEveryNode, hex, type Note } from './node.ts'
import { observe } from './observe.ts'
import { balanceAt } from './received.ts'
import { bytes, count, hash, orNull, quantity, receipt, transaction } from './replies.ts'
import { failureOf, refusalOf } from './rpc.ts'
import { transferCall } from './token.ts'
import { buildTransfer, typicalFee } from './transfer.ts'

/** The protocol's price of a plain transfer: where an estimate says exactly this, it is no estimate. */
const PLAIN_TRANSFER_GAS = 21_000n
/** State may change until the transfer is in: a fifth on top of what it takes now. */
const MARGIN_PERCENT = 120n
/** A recipient's contract may burn gas at our expense: not beyond this. */
const GAS_MAX = 500_000n

/** Codes by which nodes say that the call itself reverted: geth and its kin 3, Nethermind and OpenEthereum -32015. */
const revertCodes: ReadonlySet<number> = new Set([3, -32015])
/**
 * Codes by which nodes refuse a transaction for good as it is now: -32000 (geth and its kin), -32003 (EIP-1474
 * "transaction rejected"), -32010 (Nethermind), -32602 (undecodable). All others leave a doubt.
 */
const rejectCodes: ReadonlySet<number> = new Set([-32000, -32003, -32010, -32602])

export type EvmSenderOptions = Readonly<{
  network: Network
  nodes: readonly EvmNode[]
  addresses: EvmAddresses
  note: Note
}>

export function createEvmSender({ network, nodes, addresses, note }: EvmSenderOptions): PureSender {
  return Object.freeze({
    gasLimit: async (pay, from) => {
      const limits = await askEveryNode(nodes, (node) => estimate(node, pay, addresses.addressAt(from)))
      return of(largest, limits)
    },
    payoutFee: typicalFee,
    build: (request) => buildTransfer(network, addresses, request),
    broadcast: (raw) => broadcast(nodes, raw),
    observe: (attempt) => observe(nodes, network, attempt, note),
  } satisfies PureSender)
}

/** What the transfer takes on this node, or SIMULATION_FAILED where it would revert. */
async function estimate(node: EvmNode, pay: Payment, from: string): Promise<bigint> {
  const { contract } = pay.asset
  const held = await balanceAt(node, from, contract, 'latest')
  // Said before the token's own revert could be taken for a recipient that is refused.
  if (held < pay.units) throw new AppError('INSUFFICIENT_LIQUIDITY', `the sender holds less than the transfer`)
  const call =
    contract === null
      ? { from, to: pay.address, value: hex(pay.units) }
      : { from, to: contract, data: transferCall(pay.address, pay.units) }
  const gas = await simulated(node, () => node.ask('eth_estimateGas', [call], quantity))
  if (contract !== null) await checkReturn(node, call)
  const limit = contract === null && gas === PLAIN_TRANSFER_GAS ? gas : (gas * MARGIN_PERCENT) / 100n
  if (limit > GAS_MAX) throw refused('the transfer would take an unusual amount of gas')
  return limit
}

/** Old tokens return nothing, which is as good as true; some return false in place of a revert. */
async function checkReturn(node: EvmNode, call: Readonly<Record<string, string>>): Promise<void> {
  const returned = await simulated(node, () => ethCall(node, call, 'latest'))
  if (returned !== '0x' && BigInt(returned) !== 1n) throw refused('the token refuses the transfer')
}

async function simulated<T>(node: EvmNode, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal !== null && revertCodes.has(refusal.code)) throw refused(`${node.name} says it would revert`, refusal)
    throw error
  }
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('SIMULATION_FAILED', message, { cause })
}

/** Offers a signed transaction, whosever it is, to every node. */
export async function broadcast(nodes: readonly EvmNode[], raw: string): Promise<BroadcastResult> {
  const signed = bytes(raw)
  const txHash = keccak256(signed)
  const { nonce = 0 } = parseTransaction(signed)
  const sender = await recoverTransactionAddress({ serializedTransaction: signed as `0x02${string}` })
  const results = await askEveryNode(nodes, (node) => offer(node, signed, { txHash, sender, nonce }))
  const of = (kind: BroadcastResult['kind']) => results.find((result) => result.kind === kind)
  // One taker is enough; a rejection counts only where all reject.
  const result = of('accepted') ?? of('known') ?? of('unknown') ?? of('rejected')
  assert(result, 'a network has a node')
  return result
}

type Offered = Readonly<{ txHash: string; sender: string; nonce: number }>

async function offer(node: EvmNode, raw: Hex, offered: Offered): Promise<BroadcastResult> {
  try {
    const answered = await node.ask('eth_sendRawTransaction', [raw], hash)
    if (answered === offered.txHash) return { kind: 'accepted' }
    return { kind: 'unknown', reason: `${node.name} answered with another hash` }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return explain(node, offered, error)
  }
}

/** After any error the hash is looked up: most refusals of repeated bytes mean that they are known. */
async function explain(node: EvmNode, { txHash, sender, nonce }: Offered, error: AppError): Promise<BroadcastResult> {
  try {
    const [found, tx] = await Promise.all([
      node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)),
      node.ask('eth_getTransactionByHash', [txHash], orNull(transaction)),
    ])
    if (found !== null || tx !== null) return { kind: 'known' }
    const refusal = refusalOf(error)
    if (refusal === null || !rejectCodes.has(refusal.code)) return { kind: 'unknown', reason: reasonOf(node, error) }
    const next = await node.ask('eth_getTransactionCount', [sender, 'latest'], count)
    return { kind: 'rejected', reason: next > nonce ? `nonce ${nonce} is used` : reasonOf(node, error) }
  } catch (lookup) {
    if (!(lookup instanceof AppError)) throw lookup
    return { kind: 'unknown', reason: reasonOf(node, error) }
  }
}

function reasonOf(node: EvmNode, error: AppError): string {
  const refusal = refusalOf(error)
  if (refusal !== null) return `${node.name}: ${refusal.message}`
  return `${node.name}: ${failureOf(error)?.message ?? 'a reply of another form'}`
}
