import type { PaidFee } from '../../swap/ports/swap-chain.ts'
import { type Fields, fieldsOf, listOf, type SolanaNodes, toCount } from './nodes.ts'
import { actionOf } from './observe.ts'
import { paidTo, readReceipt } from './receipts.ts'

const PAGE = 1_000

type Listed = Readonly<{ hash: string; slot: number }>

/** Every swap names the account that takes its fee, so the account's own transactions are enough. */
export async function listPaidFees(
  nodes: SolanaNodes,
  { from, to, feeTo }: Readonly<{ from: number; to: number; feeTo: readonly string[] }>,
): Promise<readonly PaidFee[]> {
  const found = new Map<string, Listed>()
  for (const address of feeTo)
    for (const one of await listTransactions(nodes, address, { from, to })) found.set(one.hash, one)
  const fees: PaidFee[] = []
  for (const { hash, slot } of [...found.values()].sort((a, b) => a.slot - b.slot || (a.hash < b.hash ? -1 : 1))) {
    const receipt = await readReceipt(nodes, hash)
    const action = receipt && actionOf(receipt)
    if (!receipt?.ok || !action || action.feeTo === null || !feeTo.includes(action.feeTo)) continue
    const { ref, tokenOut: token, recipient: sender } = action
    const units = paidTo(receipt, action.feeTo, token)
    if (units > 0n)
      fees.push({ hash, logIndex: 0, height: slot, ref, sender, token, units, feeTo: action.feeTo, executor: null })
  }
  return fees
}

/** Successful transactions of final slots, which the node lists from the newest to the oldest. */
async function listTransactions(
  nodes: SolanaNodes,
  address: string,
  { from, to }: Readonly<{ from: number; to: number }>,
): Promise<Listed[]> {
  const listed: Listed[] = []
  let before: string | undefined
  for (;;) {
    const options = { commitment: 'finalized', limit: PAGE, ...(before === undefined ? {} : { before }) }
    const page = listOf(await nodes.ask('getSignaturesForAddress', [address, options])).map(fieldsOf)
    const rows = page.map(toListed)
    listed.push(...rows.filter(({ slot }, index) => slot >= from && slot <= to && page[index]?.['err'] === null))
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE || last.slot < from) return listed
    before = last.hash
  }
}

const toListed = (row: Fields): Listed => ({ hash: String(row['signature']), slot: toCount(row['slot']) })
