import { readBalances } from './balances.ts'
import type { Customers, Payment, Purchase } from './customers.ts'
import { type Due, isDue, listCancelledDues, listDues } from './dues.ts'
import type { Fleet } from './fleet.ts'

export type Holdings = Readonly<{ payout: bigint; refund: bigint }>

/** What the recipient and the refund address of each purchase hold on their chains. */
export async function readHoldings(
  fleet: Fleet,
  purchases: readonly Purchase[],
): Promise<(purchase: Purchase) => Holdings> {
  const recipients = purchases.flatMap(({ to, recipient }) => (recipient === null ? [] : [[to, recipient] as const]))
  const refunds = purchases.map(({ from, refund }) => [from, refund] as const)
  const balances = await readBalances(fleet, [...recipients, ...refunds])
  return ({ from, to, recipient, refund }) => ({
    payout: balances.get(`${to} ${recipient}`) ?? 0n,
    refund: balances.get(`${from} ${refund}`) ?? 0n,
  })
}

/** Every permitted result of a purchase. */
export function permittedDues(
  { terms, payments, isCancelled }: Purchase,
  customers: Pick<Customers, 'published' | 'isDoubleSpent'>,
  onChain: ReadonlyMap<Payment, boolean>,
): readonly Due[] {
  const confirmed = payments.filter((one) => onChain.get(one) && one.units > 0n)
  // The app may have paid for a deposit that was double-spent later. More than its due is still too much.
  const reversed = payments.filter((one) => customers.isDoubleSpent(one))
  const unitsOf = (list: readonly Payment[]) => list.map(({ units }) => units)
  const list = isCancelled ? listCancelledDues : listDues
  return [confirmed, ...(reversed.length > 0 ? [[...confirmed, ...reversed]] : [])].flatMap((deposits) =>
    list(terms, unitsOf(deposits), customers.published),
  )
}

/**
 * Compares what recipients and refund addresses hold on their chains with what the customers compute from their own records.
 * Every address is used once. The app's own records are not read.
 */
export async function checkDues(
  fleet: Fleet,
  customers: Customers,
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<{ paidTwice: string[]; short: string[] }> {
  const { purchases } = customers
  const holdingsOf = await readHoldings(fleet, purchases)
  const paidTwice: string[] = []
  const short: string[] = []
  for (const purchase of purchases) {
    const held = holdingsOf(purchase)
    const dues = permittedDues(purchase, customers, onChain)
    if (isDue(dues, held.payout, held.refund)) continue
    for (const { asset, address, units, least, most } of compare(purchase, held, dues)) {
      if (units > most) paidTwice.push(`${address} got ${units} of ${asset}, and at most ${most} is due`)
      if (units < least) short.push(`${address} got ${units} of ${asset}, and at least ${least} is due`)
    }
  }
  return { paidTwice, short }
}

/** Both addresses against the due that is nearest: the one of the same kind, payout or refund, if there is one. */
function compare({ from, to, recipient, refund }: Purchase, holdings: Holdings, dues: readonly Due[]) {
  const due = dues.find((one) => one.payout.most > 0n === holdings.payout > 0n) ?? dues[0]
  if (due === undefined) throw new Error('every list of deposits has a due')
  return [
    { asset: to, address: recipient, units: holdings.payout, ...due.payout },
    { asset: from, address: refund, units: holdings.refund, ...due.refund },
  ]
}
