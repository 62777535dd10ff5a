import { grossOf } from '../support/published-prices.ts'
import { readBalances } from './balances.ts'
import type { Customers, Payment, Purchase } from './customers.ts'
import { type Due, isDue, listDues } from './dues.ts'
import type { Fleet } from './fleet.ts'

type Holdings = Readonly<{ payout: bigint; refund: bigint }>

/**
 * Compares what recipients and refund addresses hold on their chains with what the customers compute from their own records.
 * Every address is used once. The app's own records are not read.
 */
export async function checkDues(
  fleet: Fleet,
  customers: Customers,
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<{ paidTwice: string[]; short: string[] }> {
  const { purchases, published } = customers
  const balances = await readBalances(
    fleet,
    purchases.flatMap(({ from, to, recipient, refund }) => [[to, recipient] as const, [from, refund] as const]),
  )
  const paidTwice: string[] = []
  const short: string[] = []
  for (const purchase of purchases) {
    const { from, to, terms, recipient, refund, payments } = purchase
    const payout = balances.get(`${to} ${recipient}`) ?? 0n
    const refunded = balances.get(`${from} ${refund}`) ?? 0n
    const confirmed = payments.filter((one) => onChain.get(one) && one.units > 0n)
    // The app may have paid for a deposit that was double-spent later. More than its due is still too much.
    const reversed = payments.filter((one) => customers.isDoubleSpent(one))
    const unitsOf = (list: readonly Payment[]) => list.map(({ units }) => units)
    const dues = [confirmed, ...(reversed.length > 0 ? [[...confirmed, ...reversed]] : [])].flatMap((deposits) =>
      listDues(terms, unitsOf(deposits), published),
    )
    if (isDue(dues, payout, refunded)) continue
    for (const { asset, address, units, least, most } of compare(purchase, { payout, refund: refunded }, dues)) {
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

/**
 * Compares the income that the ledger books for each exchange with what its customer gave up: the value of the deposit at the
 * market less the payout, or the deposit less the refund. It needs no network fee, so it is exact. Only for exchanges with one
 * conversion whose deposits are all on their chain.
 */
export async function checkIncome(
  fleet: Fleet,
  { purchases }: Customers,
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<string[]> {
  const settled = purchases.filter(
    ({ terms, payments }) =>
      terms.privateType === null &&
      payments.length === 1 &&
      payments.every((one) => onChain.get(one) && one.units > 0n),
  )
  const rows = await fleet.database.query<{ id: string; asset: string; units: string }>(INCOME, [
    settled.map(({ id }) => id),
  ])
  const booked = new Map(rows.map(({ id, asset, units }) => [`${id} ${asset}`, BigInt(units)]))
  const balances = await readBalances(
    fleet,
    settled.flatMap(({ from, to, recipient, refund }) => [[to, recipient] as const, [from, refund] as const]),
  )
  return settled.flatMap(({ id, from, to, recipient, refund, payments }) => {
    const units = payments[0]?.units ?? 0n
    const refunded = balances.get(`${from} ${refund}`) ?? 0n
    const payout = balances.get(`${to} ${recipient}`) ?? 0n
    // An exchange that has paid nothing yet is a finding of its own.
    if (refunded === 0n && payout === 0n) return []
    const [asset, kept] = refunded > 0n ? [from, units - refunded] : [to, grossOf(from, to, units) - payout]
    const income = booked.get(`${id} ${asset}`) ?? 0n
    return income === kept ? [] : [`exchange ${id} kept ${kept} of ${asset}, and the ledger has an income of ${income}`]
  })
}

/** Income accounts are credited, and debited where a conversion or a refund is reversed. */
const INCOME = `select j.exchange_id as id, p.asset_id as asset,
    sum(case when p.credit like 'income:%' then p.units else 0 end) - sum(case when p.debit like 'income:%' then p.units else 0 end) as units
  from journal j join postings p on p.journal_id = j.id
  where j.exchange_id = any($1::uuid[]) and (p.credit like 'income:%' or p.debit like 'income:%') group by 1, 2`
