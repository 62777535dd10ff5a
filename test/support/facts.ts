import { parseUnits } from 'viem'
import { expect } from 'vitest'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { Account } from '../../server/src/core/domain/ledger/journal.ts'
import type { Json, Scenario } from './scenario.ts'

/** Debits less credits of an account, in base units. */
export function booked(scenario: Scenario, account: Account, asset: AssetId): Promise<bigint> {
  return scenario.app.store.ledger.balance(account, asset)
}

/** What a payout or refund of a currency costs its receiver now, as any quote into it says. */
export async function networkFee(scenario: Scenario, currency: string, from: string, amount = '1'): Promise<string> {
  return (await scenario.rate(from, currency, amount)).fees.network
}

/** Runs what refunds, and expects that what arrived at an address is what was paid less the network fee of that time. */
export async function expectRefund(
  scenario: Scenario,
  paid: { currency: string; amount: string; address: string; quoteFrom: string; decimals: number },
  refund: () => Promise<unknown>,
): Promise<void> {
  const { currency, amount, address, quoteFrom, decimals } = paid
  const before = parseUnits(await scenario.balance(currency, address), decimals)
  const feeBefore = await networkFee(scenario, currency, quoteFrom)
  await refund()
  const feeAfter = await networkFee(scenario, currency, quoteFrom)
  const arrived = parseUnits(await scenario.balance(currency, address), decimals) - before
  // A fee rate may move between two blocks; it was one of the two.
  expect([feeBefore, feeAfter].map((fee) => parseUnits(amount, decimals) - parseUnits(fee, decimals))).toContain(
    arrived,
  )
}

/** A little below the least that a pair takes: enough to be refunded. */
export async function belowMin(scenario: Scenario, from: string, to: string, decimals: number): Promise<string> {
  const { min } = await scenario.rate(from, to, '1')
  return (min * 0.9).toFixed(Math.min(decimals, 8))
}

/** The items of an exchange, once there are so many and all have this status. */
export async function items(scenario: Scenario, exchange: Json, count: number, status: string): Promise<Json[]> {
  return scenario.until(`${count} items are ${status}`, async () => {
    const { exchanges } = await scenario.status(exchange)
    return exchanges.length === count && exchanges.every((item: Json) => item.status === status) ? exchanges : null
  })
}

/** Statuses that the exchange itself has had after its first, in order. */
export async function statuses(scenario: Scenario, exchange: Json): Promise<string[]> {
  const rows = await scenario.app.database.query<{ status: string }>(
    "select status from events where exchange_id = $1 and event = 'status' order by id",
    [exchange.id],
  )
  return rows.map(({ status }) => status)
}

export async function alarms(scenario: Scenario, subject: string): Promise<string[]> {
  const rows = await scenario.app.database.query<{ subject: string }>(
    'select subject from alarms where subject like $1',
    [`${subject}%`],
  )
  return rows.map((row) => row.subject)
}

/** The watcher has recorded the block that is the node's tip now. */
export async function caughtUp(scenario: Scenario, network: string, height: number): Promise<void> {
  await scenario.until(
    `${network} is recorded up to ${height}`,
    async () => ((await scenario.app.store.chainLog.cursor(network))?.height ?? 0) >= height,
  )
}
