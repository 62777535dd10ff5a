import { parseUnits } from 'viem'
import { decimalsOf } from '../support/published-prices.ts'
import { listPayers, readBalances } from './balances.ts'
import type { Client } from './client.ts'
import type { Customers, Payment } from './customers.ts'
import type { Fleet } from './fleet.ts'

/**
 * Checks that the API reports each confirmed payment as finished or refunded, the amount that the recipient holds, and every
 * transaction that paid one of the customer's addresses.
 */
export async function checkStatuses(
  client: Client,
  customers: Customers,
  onChain: ReadonlyMap<Payment, boolean>,
  fleet: Fleet,
): Promise<{ lost: string[]; unreported: string[] }> {
  const { purchases } = customers
  const lost: string[] = []
  const unreported: string[] = []
  const received = purchases.flatMap(({ to, recipient }) => (recipient === null ? [] : [[to, recipient] as const]))
  const balances = await readBalances(fleet, received)
  const payers = await listPayers(fleet, [...received, ...purchases.map(({ from, refund }) => [from, refund] as const)])
  for (const { id, from, to, recipient, refund, payments, terms } of purchases) {
    const { status, body } = await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)
    if (status !== 200) lost.push(`the status of exchange ${id} is answered with ${status}`)
    const items: Item[] = body?.exchange?.exchanges ?? []
    for (const payment of payments.filter((one) => onChain.get(one) && one.units > 0n)) {
      const item = items.find(({ payinHash }) => payinHash === payment.hash)
      const isDust = payment.units <= customers.published.refundFee(from).most && item?.statusReason === 'DUST'
      if (!item || !(isDust || ['finished', 'refunded'].includes(item.status)))
        lost.push(`payment ${payment.hash} of exchange ${id} is ${item?.status ?? 'unknown'}`)
    }
    const isPrivate = terms.privateType !== null
    const finished = items.filter((item) => item.status === 'finished' && (!isPrivate || isLastLeg(item, items)))
    const reported = finished.reduce(
      (sum, { amountToReceived }) => sum + parseUnits(amountToReceived ?? '0', decimalsOf(to)),
      0n,
    )
    const balance = balances.get(`${to} ${recipient}`) ?? 0n
    // What is credited to the partner is on no address.
    if (recipient !== null && balance !== reported)
      lost.push(`exchange ${id} reports ${reported} of ${to}, and ${recipient} has ${balance}`)
    const hashes = items.flatMap(({ payoutHash, refund: back }) => [payoutHash, back?.hash])
    for (const address of [recipient, refund])
      for (const hash of payers.get(address ?? '') ?? [])
        if (!hashes.includes(hash)) unreported.push(`${hash} paid ${address}, and exchange ${id} does not report it`)
  }
  return { lost, unreported }
}

type Item = Readonly<{
  payinHash: string
  payoutHash: string | null
  refund: { hash: string | null } | null
  status: string
  statusReason: string | null
  amountToReceived: string | null
}>

/** The deposit of the last leg is the payout of the first leg. */
const isLastLeg = ({ payinHash }: Item, items: readonly Item[]): boolean =>
  items.some(({ payoutHash }) => payoutHash === payinHash)
