import type { FoundFees, PaidFee } from '../../swap/ports/swap-chain.ts'
import { type Fields, fieldsOf, listOf, type SolanaNode, type SolanaNodes, toCount, unavailable } from './nodes.ts'
import { actionOf, feeIn } from './observe.ts'
import { isReadable, readAgreedReceipt } from './receipts.ts'

/* Anyone can send transactions that name a fee address, for the price of a signature. */

const PAGE = 1_000
/** Pages of one address, from the newest transaction on: half a million transactions. */
const PAGES_MAX = 500
/** Transactions of a range that are read; of more, the later slots wait. */
const RECEIPTS_MAX = 500
/** Transactions that are read at the same time. */
const AT_ONCE = 16

/** `isOurs`: by the memo that the node lists, the transaction may be a swap that we built. */
type Listed = Readonly<{ hash: string; slot: number; isOurs: boolean }>

type Query = Readonly<{ from: number; to: number; feeTo: readonly string[] }>

/** Every swap names the account that takes its fee, so the account's own transactions are enough. */
export async function listPaidFees(nodes: SolanaNodes, query: Query, pagesMax = PAGES_MAX): Promise<FoundFees> {
  const listed = await listAgreed(nodes, query, pagesMax)
  const to = lastSlotOf(listed, query)
  const found = listed.filter(({ slot }) => slot <= to)
  const accounts = new Set(query.feeTo)
  const fees: PaidFee[] = []
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const batch = found.slice(at, at + AT_ONCE)
    fees.push(...(await Promise.all(batch.map((one) => feeOf(nodes, one, accounts)))).flat())
  }
  return { fees, to }
}

async function feeOf(nodes: SolanaNodes, { hash, slot }: Listed, feeTo: ReadonlySet<string>): Promise<PaidFee[]> {
  const receipt = await readAgreedReceipt(nodes, hash)
  // A node that has lost it since would hide its fee.
  if (receipt === null) throw unavailable(nodes.network, `a node does not have the transaction ${hash}`)
  if (!isReadable(receipt)) return []
  const action = actionOf(receipt)
  if (!receipt.ok || !action || action.feeTo === null || !feeTo.has(action.feeTo)) return []
  const { ref, tokenOut: token, recipient: sender } = action
  const units = feeIn(receipt, action)
  if (units <= 0n) return []
  return [{ hash, logIndex: 0, height: slot, ref, sender, token, units, feeTo: action.feeTo, executor: null }]
}

/** The last slot up to which the transactions are few enough. One slot is always read. */
function lastSlotOf(listed: readonly Listed[], { to }: Query): number {
  const [first, next] = [listed[0], listed[RECEIPTS_MAX]]
  return first === undefined || next === undefined ? to : Math.max(first.slot, next.slot - 1)
}

/** The transactions that may be swaps of ours, as every node lists them. */
async function listAgreed(nodes: SolanaNodes, query: Query, pagesMax: number): Promise<readonly Listed[]> {
  const lists = await nodes.every((node) => listAll(node, query, pagesMax))
  const [first = [], ...others] = lists
  const textOf = (some: readonly Listed[]) => some.map(({ hash, slot }) => `${hash} ${slot}`).join()
  const text = textOf(first)
  // A node that leaves a transaction out would hide its fee permanently.
  if (others.some((one) => textOf(one) !== text)) {
    const range = `slots ${query.from} to ${query.to}`
    throw unavailable(nodes.network, `the nodes contradict each other about the fees in ${range}`)
  }
  // A memo that one node lists is enough: another may not store memos.
  return first.filter((_, index) => lists.some((list) => list[index]?.isOurs === true))
}

/** In the order of slots and hashes. */
async function listAll(node: SolanaNode, { from, to, feeTo }: Query, pagesMax: number): Promise<readonly Listed[]> {
  const found = new Map<string, Listed>()
  for (const address of feeTo)
    for (const one of await listTransactions(node, address, { from, to, pagesMax })) found.set(one.hash, one)
  return [...found.values()].sort((a, b) => a.slot - b.slot || (a.hash < b.hash ? -1 : 1))
}

/** Successful transactions of final slots, which the node lists from the newest to the oldest. */
async function listTransactions(
  node: SolanaNode,
  address: string,
  { from, to, pagesMax }: Readonly<{ from: number; to: number; pagesMax: number }>,
): Promise<Listed[]> {
  const listed: Listed[] = []
  let before: string | undefined
  for (let n = 0; n < pagesMax; n++) {
    const options = { commitment: 'finalized', limit: PAGE, ...(before === undefined ? {} : { before }) }
    const page = listOf(await node.ask('getSignaturesForAddress', [address, options])).map(fieldsOf)
    const rows = page.map(toListed)
    listed.push(...rows.filter(({ slot }, index) => slot >= from && slot <= to && page[index]?.['err'] === null))
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE || last.slot < from) return listed
    before = last.hash
  }
  throw unavailable(node.network, `${address} has more than ${pagesMax * PAGE} transactions after slot ${from}`)
}

/** The memo of our own routes and that of an aggregator's, after its length. Other memos beside it are not ours. */
const MEMO = /^\[\d+\] [\w-]{43}:\d+(:\d+:\d+)?$/

const toListed = ({ signature, slot, memo }: Fields): Listed => ({
  ...{ hash: String(signature), slot: toCount(slot) },
  isOurs: typeof memo === 'string' && MEMO.test(memo),
})
