import type { Payment } from '../../swap/ports/swap-chain.ts'
import { type Fields, fieldsOf, listOf, type SolanaNodes, toCount, toUnits } from './nodes.ts'
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
}>

export async function readReceipt(nodes: SolanaNodes, hash: string): Promise<Receipt | null> {
  const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }
  const reply = await nodes.ask('getTransaction', [hash, options])
  return reply === null ? null : toReceipt(fieldsOf(reply))
}

function toReceipt({ slot, transaction: wire, meta: given }: Fields): Receipt {
  const meta = fieldsOf(given)
  const [text] = listOf(wire)
  const transaction = decodeTransaction(Buffer.from(String(text), 'base64'))
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
  }
}

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
  const receipt = await readReceipt(nodes, hash)
  if (receipt === null || !receipt.ok || !receipt.transaction.signers.includes(from)) return null
  const units = paidTo(receipt, to, token)
  return { units: units > 0n ? units : 0n, confirmations: await confirmationsOf(receipt.slot) }
}
