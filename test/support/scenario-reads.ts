import { parseUnits } from 'viem'
import { expect } from 'vitest'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { Account } from '../../server/src/core/domain/ledger/chart.ts'
import { paymentCost } from './network-costs.ts'
import { feeMovePercent } from './published-prices.ts'
import type { Json, Scenario } from './scenario.ts'

/** Returns the debits minus the credits of an account, in base units. */
export function readBalance(scenario: Scenario, account: Account, asset: AssetId): Promise<bigint> {
  return scenario.app.store.ledger.balance(account, asset)
}

/** Reads the current network costs of an exchange from a quote. */
export async function readNetworkFee(
  scenario: Scenario,
  currency: string,
  from: string,
  amount = '1',
): Promise<string> {
  return (await scenario.rate(from, currency, amount)).fees.network
}

/** The published fee of one payment in a currency, in base units: `fees.payout` of a quote into it. */
async function readRefundFee(scenario: Scenario, currency: string, decimals: number): Promise<bigint> {
  const { catalogue, chains } = scenario.app
  const other = catalogue
    .list()
    .find(({ asset, enabled }) => enabled && asset.id !== currency && chains.has(asset.network))
  if (!other) throw new Error(`no other currency can be exchanged to ${currency}`)
  return parseUnits((await scenario.rate(other.asset.id, currency, '1')).fees.payout, decimals)
}

/**
 * Runs `refund` and expects that the address received the paid amount minus the network fee. The published fee must be that of the chain,
 * where its fee rate is known.
 */
export async function expectRefund(
  scenario: Scenario,
  paid: { currency: string; amount: string; address: string; decimals: number },
  refund: () => Promise<unknown>,
): Promise<void> {
  const { currency, amount, address, decimals } = paid
  const before = parseUnits(await scenario.balance(currency, address), decimals)
  const feeBefore = await readRefundFee(scenario, currency, decimals)
  await refund()
  const feeAfter = await readRefundFee(scenario, currency, decimals)
  const receivedUnits = parseUnits(await scenario.balance(currency, address), decimals) - before
  const [cost, percent] = [paymentCost(currency), feeMovePercent(currency)]
  if (cost !== null)
    for (const fee of [feeBefore, feeAfter]) {
      expect(fee).toBeGreaterThanOrEqual((cost * (100n - percent)) / 100n)
      expect(fee).toBeLessThanOrEqual((cost * (100n + percent)) / 100n)
    }
  // The fee rate may change during the refund: either value is correct.
  expect([feeBefore, feeAfter].map((fee) => parseUnits(amount, decimals) - fee)).toContain(receivedUnits)
}

/** Returns 90 % of a pair's minimum: too little for an exchange, enough for a refund. */
export async function computeAmountBelowMin(
  scenario: Scenario,
  from: string,
  to: string,
  decimals: number,
): Promise<string> {
  const { min } = await scenario.rate(from, to, '1')
  return (min * 0.9).toFixed(Math.min(decimals, 8))
}

/** Creates an exchange of 1 litecoin to ether with a new recipient and a new wallet for refunds. */
export async function createLitecoinExchange(scenario: Scenario) {
  const [recipient, refundWallet] = [await scenario.wallet('eth'), await scenario.wallet('ltc')]
  const exchange = await scenario.create({
    from: 'ltc@ltc',
    to: 'eth@eth',
    amount: '1',
    address: recipient.address,
    refundAddress: refundWallet.address,
  })
  return { exchange, recipient, refundWallet }
}

/** Waits until an exchange has `count` items and all have the status, then returns them. */
export async function waitForItems(scenario: Scenario, exchange: Json, count: number, status: string): Promise<Json[]> {
  return scenario.until(`${count} items are ${status}`, async () => {
    const { exchanges } = await scenario.status(exchange)
    return exchanges.length === count && exchanges.every((item: Json) => item.status === status) ? exchanges : null
  })
}

/** Returns the statuses of the exchange itself in order, without the first. */
export async function readStatusHistory(scenario: Scenario, exchange: Json): Promise<string[]> {
  const rows = await scenario.app.database.query<{ status: string }>(
    "select status from events where exchange_id = $1 and event = 'status' order by id",
    [exchange.id],
  )
  return rows.map(({ status }) => status)
}

/** Returns the subjects of alarms with this prefix. */
export async function readAlarms(scenario: Scenario, subject: string): Promise<string[]> {
  const rows = await scenario.app.database.query<{ subject: string }>(
    'select subject from alarms where subject like $1',
    [`${subject}%`],
  )
  return rows.map((row) => row.subject)
}

/** Waits until the watcher has recorded the block at this height. */
export async function waitForHeight(scenario: Scenario, network: string, height: number): Promise<void> {
  await scenario.until(
    `${network} is recorded up to ${height}`,
    async () => ((await scenario.app.store.chainLog.cursor(network))?.height ?? 0) >= height,
  )
}
