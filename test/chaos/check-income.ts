import type { Sql } from '../../server/src/adapters/postgres/core/database.ts'
import { convertAtLiveRate, grossOf } from '../support/published-prices.ts'
import { type Holdings, permittedDues, readHoldings } from './check-dues.ts'
import type { Customers, Payment, Purchase } from './customers.ts'
import { type Due, intermediariesOf, isDue, isWithin, type Published, type Range, WITHHELD_ROUNDING } from './dues.ts'
import type { Fleet } from './fleet.ts'

/** What the ledger books of one exchange, by asset: the income, and what its own partner is owed. */
type Booked = ReadonlyMap<string, Readonly<{ income: bigint; partner: bigint }>>

/**
 * Compares what the ledger books for each exchange with the customers' own records. The partner is owed its fee, and the
 * proceeds if no recipient was named. The income is what the customer gave up: the value of the deposits at the market less
 * the payout and what the partner is owed, or the deposit less the refund. It needs no network fee, so it is exact; between the
 * legs of a private exchange it may differ by what is rounded. The balances of all partners add up to the same.
 */
export async function checkIncome(
  fleet: Fleet,
  customers: Customers,
  onChain: ReadonlyMap<Payment, boolean>,
): Promise<string[]> {
  const { purchases, published } = customers
  const holdingsOf = await readHoldings(fleet, purchases)
  const rows = await fleet.database.query<BookedRow>(BOOKED, [
    purchases.map(({ id }) => id),
    purchases.map(({ partner }) => partner),
  ])
  const bookedOf = Map.groupBy(rows, ({ id }) => id)
  const faults = purchases.flatMap((purchase) => {
    const held = holdingsOf(purchase)
    const booked: Booked = new Map(
      (bookedOf.get(purchase.id) ?? []).map(({ asset, income, partner }) => [
        asset,
        { income: BigInt(income), partner: BigInt(partner) },
      ]),
    )
    // Addresses that hold something else are a finding of their own.
    const dues = permittedDues(purchase, customers, onChain).filter((due) => isDue([due], held.payout, held.refund))
    const found = dues.map((due) => [
      ...findPartnerFaults(purchase, due, booked),
      ...findIncomeFaults(purchase, due, held, booked, published),
    ])
    return found.toSorted((a, b) => a.length - b.length)[0] ?? []
  })
  return [...faults, ...(await findBalanceFaults(fleet.database, purchases, rows))]
}

/** The partner is owed what is due of the payout's currency, and nothing of another one. */
function findPartnerFaults({ id, to }: Purchase, due: Due, booked: Booked): string[] {
  return [...new Set([to, ...booked.keys()])].flatMap((asset) => {
    const units = booked.get(asset)?.partner ?? 0n
    const range = asset === to ? due.partner : NOTHING
    if (isWithin(range, units)) return []
    return [`exchange ${id} credits its partner with ${units} of ${asset}, and ${describe(range)} is due`]
  })
}

function findIncomeFaults(purchase: Purchase, due: Due, held: Holdings, booked: Booked, published: Published) {
  const { id, from, to, terms } = purchase
  const kept = new Map([[from, exactly(due.returned - held.refund)]])
  const paid = held.payout + (booked.get(to)?.partner ?? 0n)
  if (terms.privateType === null || due.converted.length === 0) {
    kept.set(to, exactly(sumGross(from, to, due.converted) - paid))
  } else {
    const via = intermediariesOf(terms.privateType).find((asset) => booked.has(asset))
    if (via === undefined) return [`exchange ${id} has no income between its legs in the ledger`]
    const atMarket = sumGross(from, via, due.converted)
    const atRate = due.converted.reduce((sum, units) => sum + convertAtLiveRate(from, via, units), 0n)
    const count = BigInt(due.converted.length)
    const fee = published.networkFee(from, via)
    kept.set(via, { least: atMarket - atRate + count * fee.least, most: atMarket - atRate + count * fee.most })
    // What the first leg did not keep is converted by the second.
    const between = atMarket - (booked.get(via)?.income ?? 0n)
    const least = grossOf(via, to, between - count * WITHHELD_ROUNDING) - count - paid
    kept.set(to, { least, most: grossOf(via, to, between) - paid })
  }
  return [...new Set([...kept.keys(), ...booked.keys()])].flatMap((asset) => {
    const income = booked.get(asset)?.income ?? 0n
    const range = kept.get(asset) ?? NOTHING
    if (isWithin(range, income)) return []
    return [`exchange ${id} kept ${describe(range)} of ${asset}, and the ledger has an income of ${income}`]
  })
}

/** What each partner is owed now against what its exchanges credit. What it earns by swaps is in the tokens' contracts. */
async function findBalanceFaults(
  database: Sql,
  purchases: readonly Purchase[],
  rows: readonly BookedRow[],
): Promise<string[]> {
  const partners = new Map(purchases.map(({ id, partner }) => [id, partner]))
  const credited = new Map<string, bigint>()
  for (const { id, asset, partner } of rows) {
    const key = `${partners.get(id)} ${asset}`
    credited.set(key, (credited.get(key) ?? 0n) + BigInt(partner))
  }
  const balances = await database.query<{ partner: string; asset: string; units: string }>(PARTNER_BALANCES)
  const owed = new Map(balances.map(({ partner, asset, units }) => [`${partner} ${asset}`, BigInt(units)]))
  return [...new Set([...credited.keys(), ...owed.keys()])].flatMap((key) => {
    const [units, expected] = [owed.get(key) ?? 0n, credited.get(key) ?? 0n]
    return units === expected ? [] : [`partner ${key} is owed ${units}, and its exchanges credit ${expected}`]
  })
}

const NOTHING: Range = { least: 0n, most: 0n }
const exactly = (units: bigint): Range => ({ least: units, most: units })
const describe = ({ least, most }: Range): string => (least === most ? `${least}` : `${least} to ${most}`)
const sumGross = (from: string, to: string, deposits: readonly bigint[]): bigint =>
  deposits.reduce((sum, units) => sum + grossOf(from, to, units), 0n)

type BookedRow = Readonly<{ id: string; asset: string; income: string; partner: string }>

/** Liabilities and income are credited, and debited where a conversion or a refund is reversed. */
const BOOKED = `with bought as (
    select e.id, 'liability:partner:' || p.id as owed from unnest($1::uuid[], $2::text[]) as e(id, partner)
    left join partners p on p.name = e.partner)
  select j.exchange_id as id, p.asset_id as asset,
    sum(case when p.credit like 'income:%' then p.units else 0 end) - sum(case when p.debit like 'income:%' then p.units else 0 end) as income,
    sum(case when p.credit = b.owed then p.units else 0 end) - sum(case when p.debit = b.owed then p.units else 0 end) as partner
  from bought b join journal j on j.exchange_id = b.id join postings p on p.journal_id = j.id
  where p.credit like 'income:%' or p.debit like 'income:%' or p.credit like 'liability:partner:%' or p.debit like 'liability:partner:%'
  group by 1, 2`

/** What left a balance is still counted: no suite pays a partner, so that is a finding, too. */
const PARTNER_BALANCES = `select coalesce(p.name, b.account) as partner, b.asset_id as asset, -b.units as units
  from balances b left join partners p on b.account = 'liability:partner:' || p.id
  where b.account like 'liability:partner:%' and b.asset_id not like '0x%' and b.units <> 0`
