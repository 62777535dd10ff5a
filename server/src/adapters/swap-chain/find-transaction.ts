import { type AccessList, type Address, type Hex, keccak256, numberToHex, serializeTransaction } from 'viem'
import type { SignedTransaction } from '../../swap/ports/swap-chain.ts'
import { askEveryNode, type EvmNode } from '../chains/evm/node.ts'
import {
  address,
  count,
  type Decode,
  fields,
  hash,
  list,
  orNull,
  quantity,
  type TransactionReply,
  transaction,
} from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { firstFound } from '../chains/shared/agreement.ts'
import { decodeAction } from './decode-action.ts'

/** `proves`: its own bytes have its hash, so that no node can have invented it. Only the sender is not proven. */
type Found = Readonly<{ reply: TransactionReply; nonce: number; proves: boolean }>

/**
 * Finds a transaction. The reply of one node counts if the transaction has the hash that was asked for. Transactions of other types, such
 * as deposits of a rollup, are not serialized here: of these every node must say the same. Null unless every node has one.
 */
export async function findTransaction(nodes: readonly EvmNode[], txHash: string): Promise<SignedTransaction | null> {
  const find = (node: EvmNode) =>
    node.ask(
      'eth_getTransactionByHash',
      [txHash],
      orNull((reply) => toFound(reply, txHash)),
    )
  const proven = await firstFound(nodes, async (node) => {
    const found = await find(node)
    return found?.proves === true ? found : null
  })
  if (proven !== null) return signedOf(proven)
  const [first = null, ...others] = await askEveryNode(nodes, find)
  if (first === null || others.includes(null)) return null
  if (others.some((other) => textOf(other) !== textOf(first)))
    throw unavailable(`the nodes contradict each other about the transaction ${txHash}`)
  return signedOf(first)
}

function toFound(given: unknown, txHash: string): Found | null {
  const reply = transaction(given)
  if (reply.hash !== txHash || reply.nonce === null) return null
  return { reply, nonce: reply.nonce, proves: hashOf(given, reply) === txHash }
}

function textOf(found: Found | null): string {
  if (found === null) return ''
  const { from, to, value, input, type, nonce } = found.reply
  return [from, to, value, input, type, nonce].join()
}

/** The sender is the node's statement. Of a swap the reference binds it, so that another one is no swap that we built. */
function signedOf({ reply: { hash: own, from, to, value, input, type }, nonce }: Found): SignedTransaction {
  const target = to?.toLowerCase() ?? null
  const action = type === 4 ? null : decodeAction(target, input, value)
  return {
    ...{ hash: own, signer: from.toLowerCase(), nonce, recentBlock: null, action },
    targets: target === null ? [] : [target],
  }
}

const accessList: Decode<AccessList> = list((entry) => {
  const { address: holder, storageKeys } = fields(entry)
  return { address: address(holder) as Address, storageKeys: list(hash)(storageKeys) as Hex[] }
})

const word = (value: unknown): Hex => numberToHex(quantity(value), { size: 32 })

/** Null if it is of another type, or lacks a member that its bytes contain. */
function hashOf(given: unknown, { type, to, value, nonce, input: data }: TransactionReply): Hex | null {
  const tx = fields(given)
  const common = { to: to as Address | null, value, nonce: nonce ?? 0, data }
  try {
    const gas = quantity(tx['gas'])
    const signature = { r: word(tx['r']), s: word(tx['s']) }
    if (type === 0) {
      const legacy = { ...common, gas, gasPrice: quantity(tx['gasPrice']), type: 'legacy' } as const
      return keccak256(serializeTransaction(legacy, { ...signature, v: quantity(tx['v']) }))
    }
    const parity = { ...signature, yParity: count(tx['yParity'] ?? tx['v']) }
    const typed = { ...common, gas, chainId: count(tx['chainId']), accessList: accessList(tx['accessList'] ?? []) }
    if (type === 1) {
      const eip2930 = { ...typed, gasPrice: quantity(tx['gasPrice']), type: 'eip2930' } as const
      return keccak256(serializeTransaction(eip2930, parity))
    }
    if (type !== 2) return null
    const [maxFeePerGas, maxPriorityFeePerGas] = [tx['maxFeePerGas'], tx['maxPriorityFeePerGas']].map(quantity)
    const eip1559 = { ...typed, maxFeePerGas, maxPriorityFeePerGas, type: 'eip1559' } as const
    return keccak256(serializeTransaction(eip1559 as never, parity))
  } catch {
    return null
  }
}
