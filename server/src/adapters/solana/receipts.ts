import type { Payment } from '../../swap/ports/swap-chain.ts'
import {
  type Fields,
  fieldsOf,
  listOf,
  type SolanaNode,
  type SolanaNodes,
  toCount,
  toUnits,
  UnsupportedVersionError,
  unavailable,
} from './nodes.ts'
import { wrappedSol } from './program-address.ts'
import { type DecodedTransaction, decodeTransaction } from './transaction.ts'

/** A transaction in a confirmed block, with what it changed. */
export type Receipt = Readonly<{
  slot: number
  transaction: DecodedTransaction
  ok: boolean
  fee: bigint
  /** Change of an account's lamports. */
  lamportsOf(address: string): bigint
  /** Change of an owner's balance of a token, over all of the owner's accounts. */
  tokensOf(owner: string, mint: string): bigint
  /** All of it that a node could invent, to compare the nodes. */
  text: string
}>

/** A transaction of a later version, or that cannot be decoded. It is not ours: ours have version 0. */
type Unreadable = 'unreadable'
export const isReadable = (receipt: Receipt | Unreadable | null): receipt is Receipt =>
  receipt !== null && receipt !== 'unreadable'

/** As every node has it; null if one does not have it. Throws if the nodes contradict each other. */
export async function readAgreedReceipt(nodes: SolanaNodes, hash: string): Promise<Receipt | Unreadable | null> {
  const receipts = await nodes.every((node) => readReceipt(node, hash))
  return receipts.includes(null) ? null : agreeOn(nodes, receipts, hash)
}

/** As the nodes have it that answer and have it; null if none has it. Throws if they contradict each other. */
export async function findReceipt(nodes: SolanaNodes, hash: string): Promise<Receipt | null> {
  const receipt = agreeOn(nodes, await nodes.answers((node) => readReceipt(node, hash)), hash)
  return isReadable(receipt) ? receipt : null
}

function agreeOn({ network }: SolanaNodes, receipts: readonly (Receipt | Unreadable | null)[], hash: string) {
  const [first = null, ...others] = receipts.flatMap((one) => one ?? [])
  const textOf = (receipt: Receipt | Unreadable | null) => (isReadable(receipt) ? receipt.text : receipt)
  if (others.some((one) => textOf(one) !== textOf(first)))
    throw unavailable(network, `the nodes contradict each other about the transaction ${hash}`)
  return first
}

async function readReceipt(node: SolanaNode, hash: string): Promise<Receipt | Unreadable | null> {
  const reply = await askForTransaction(node, hash)
  if (reply === null || reply === 'unreadable') return reply
  const receipt = toReceipt(fieldsOf(reply))
  if (receipt === 'unreadable') return receipt
  const { transaction } = receipt
  if (transaction.hash !== hash || !transaction.hasValidSignatures)
    throw unavailable(node.network, `a node replied another transaction than ${hash}`)
  return receipt
}

async function askForTransaction(node: SolanaNode, hash: string): Promise<unknown> {
  const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }
  try {
    return await node.ask('getTransaction', [hash, options])
  } catch (error) {
    if (error instanceof UnsupportedVersionError) return 'unreadable'
    throw error
  }
}

function decodeUnlessForeign(...given: Parameters<typeof decodeTransaction>): DecodedTransaction | null {
  try {
    return decodeTransaction(...given)
  } catch {
    return null
  }
}

function toReceipt({ slot, transaction: wire, meta: given }: Fields): Receipt | Unreadable {
  const meta = fieldsOf(given)
  const [text] = listOf(wire)
  const addresses = fieldsOf(meta['loadedAddresses'])
  const [writable, readonly] = [listOf(addresses['writable']).map(String), listOf(addresses['readonly']).map(String)]
  const transaction = decodeUnlessForeign(Buffer.from(String(text), 'base64'), { writable, readonly })
  if (transaction === null) return 'unreadable'
  const keys = transaction.keys
  const [before, after] = [listOf(meta['preBalances']), listOf(meta['postBalances'])]
  const changed = (name: string) => listOf(meta[name]).map(fieldsOf)
  const sum = (balances: readonly Fields[], owner: string, mint: string) =>
    balances
      .filter((one) => one['owner'] === owner && one['mint'] === mint)
      .reduce((total, one) => total + toUnits(fieldsOf(one['uiTokenAmount'])['amount']), 0n)
  return {
    slot: toCount(slot),
    transaction,
    ok: meta['err'] === null,
    fee: toUnits(meta['fee']),
    lamportsOf: (address) => {
      const index = keys.indexOf(address)
      return index === -1 ? 0n : toUnits(after[index]) - toUnits(before[index])
    },
    tokensOf: (owner, mint) =>
      sum(changed('postTokenBalances'), owner, mint) - sum(changed('preTokenBalances'), owner, mint),
    text: JSON.stringify([
      ...[slot, text, meta['err'], meta['fee'], before, after, writable, readonly],
      ...['preTokenBalances', 'postTokenBalances'].map((name) => changed(name).map(balanceText)),
    ]),
  }
}

const balanceText = (balance: Fields): string =>
  [balance['accountIndex'], balance['owner'], balance['mint'], fieldsOf(balance['uiTokenAmount'])['amount']].join()

/**
 * The native coin without the network's fee. `accounts` of the owner count too: an account of wrapped SOL that was closed, and the rent of
 * others that were created.
 */
export function receivedBy(receipt: Receipt, owner: string, token: string, accounts: readonly string[]): bigint {
  if (token !== wrappedSol) return receipt.tokensOf(owner, token)
  return [owner, ...accounts].reduce((sum, address) => sum + receipt.lamportsOf(address), receipt.fee)
}

/** What an account was paid: its tokens, or its lamports. */
export const paidTo = (receipt: Receipt, to: string, token: string): bigint =>
  token === wrappedSol ? receipt.lamportsOf(to) : receipt.tokensOf(to, token)

export async function readPayment(
  nodes: SolanaNodes,
  hash: string,
  { token, from, to }: Readonly<{ token: string; from: string; to: string }>,
  confirmationsOf: (slot: number) => Promise<number>,
): Promise<Payment | null> {
  const receipt = await readAgreedReceipt(nodes, hash)
  if (!isReadable(receipt) || !receipt.ok || !receipt.transaction.signers.includes(from)) return null
  const units = paidTo(receipt, to, token)
  return { units: units > 0n ? units : 0n, confirmations: await confirmationsOf(receipt.slot) }
}
