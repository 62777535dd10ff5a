import type { PaidFee } from '../../swap/ports/swap-chain.ts'
import { type Fields, fieldsOf, listOf, type SolanaNode, type SolanaNodes, toCount, unavailable } from './nodes.ts'
import { actionOf } from './observe.ts'
import { isReadable, paidTo, readAgreedReceipt } from './receipts.ts'

const PAGE = 1_000

type Listed = Readonly<{ hash: string; slot: number }>

type Query = Readonly<{ from: number; to: number; feeTo: readonly string[] }>

/** Every swap names the account that takes its fee, so the account's own transactions are enough. */
export async function listPaidFees(nodes: SolanaNodes, query: Query): Promise<readonly PaidFee[]> {
  const { from, to, feeTo } = query
  const [found = [], ...others] = await nodes.every((node) => listAll(node, query))
  const textOf = (some: readonly Listed[]) => JSON.stringify(some)
  // A node that leaves a transaction out would hide its fee permanently.
  if (others.some((one) => textOf(one) !== textOf(found)))
    throw unavailable(nodes.network, `the nodes contradict each other about the fees in slots ${from} to ${to}`)
  const fees: PaidFee[] = []
  for (const { hash, slot } of found) {
    const receipt = await readAgreedReceipt(nodes, hash)
    // A node that has lost it since would hide its fee, too.
    if (receipt === null) throw unavailable(nodes.network, `a node does not have the transaction ${hash}`)
    if (!isReadable(receipt)) continue
    const action = actionOf(receipt)
    if (!receipt.ok || !action || action.feeTo === null || !feeTo.includes(action.feeTo)) continue
    const { ref, tokenOut: token, recipient: sender } = action
    const units = paidTo(receipt, action.feeTo, token)
    if (units > 0n)
      fees.push({ hash, logIndex: 0, height: slot, ref, sender, token, units, feeTo: action.feeTo, executor: null })
  }
  return fees
}

/** In the order of slots and hashes. */
async function listAll(node: SolanaNode, { from, to, feeTo }: Query): Promise<readonly Listed[]> {
  const found = new Map<string, Listed>()
  for (const address of feeTo)
    for (const one of await listTransactions(node, address, { from, to })) found.set(one.hash, one)
  return [...found.values()].sort((a, b) => a.slot - b.slot || (a.hash < b.hash ? -1 : 1))
}

/** Successful transactions of final slots, which the node lists from the newest to the oldest. */
async function listTransactions(
  node: SolanaNode,
  address: string,
  { from, to }: Readonly<{ from: number; to: number }>,
): Promise<Listed[]> {
  const listed: Listed[] = []
  let before: string | undefined
  for (;;) {
    const options = { commitment: 'finalized', limit: PAGE, ...(before === undefined ? {} : { before }) }
    const page = listOf(await node.ask('getSignaturesForAddress', [address, options])).map(fieldsOf)
    const rows = page.map(toListed)
    listed.push(...rows.filter(({ slot }, index) => slot >= from && slot <= to && page[index]?.['err'] === null))
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE || last.slot < from) return listed
    before = last.hash
  }
}

const toListed = (row: Fields): Listed => ({ hash: String(row['signature']), slot: toCount(row['slot']) })
