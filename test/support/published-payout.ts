import { parseUnits } from 'viem'
import { expect } from 'vitest'
import { exchangeCost } from './network-costs.ts'
import { convertAtLiveRate, decimalsOf, feeMovePercent } from './published-prices.ts'
import type { Scenario } from './scenario.ts'
import { readNetworkFee } from './scenario-reads.ts'

type Paid = Readonly<{
  from: string
  to: string
  /** The deposits, each with a payout of its own. */
  amounts: readonly string[]
  address: string
}>

/**
 * Runs `exchange`, and expects that the address received what the deposits are worth at the published prices and spread, less the
 * published network fee of each payout. Nothing of the sum comes from the records of the exchange. The published fee must be that of the
 * chains, where their fee rates are known.
 */
export async function expectPublishedPayout(
  scenario: Scenario,
  { from, to, amounts, address }: Paid,
  exchange: () => Promise<unknown>,
): Promise<void> {
  const [first = ''] = amounts
  const readFee = async () => parseUnits(await readNetworkFee(scenario, to, from, first), decimalsOf(to))
  const readReceived = async () => parseUnits(await scenario.balance(to, address), decimalsOf(to))
  const before = await readReceived()
  const feeBefore = await readFee()
  await exchange()
  const feeAfter = await readFee()
  const received = (await readReceived()) - before
  const worth = amounts.reduce(
    (sum, amount) => sum + convertAtLiveRate(from, to, parseUnits(amount, decimalsOf(from))),
    0n,
  )
  // The fee at the credit may differ from both quotes by what fee rates move between blocks.
  const percent = [from, to].map(feeMovePercent).reduce((a: bigint, b: bigint) => (a > b ? a : b))
  const [least, most] = feeBefore < feeAfter ? [feeBefore, feeAfter] : [feeAfter, feeBefore]
  const cost = exchangeCost(from, to)
  if (cost !== null) {
    expect(least).toBeGreaterThanOrEqual((cost * (100n - percent)) / 100n)
    expect(most).toBeLessThanOrEqual((cost * (100n + percent)) / 100n)
  }
  const count = BigInt(amounts.length)
  const fee = worth - received
  expect(fee).toBeGreaterThanOrEqual((count * least * (100n - percent)) / 100n)
  expect(fee).toBeLessThanOrEqual((count * most * (100n + percent)) / 100n)
  // The fee is small against the amount, so that an error of the price or the spread shows.
  expect(count * most).toBeLessThan(worth / 100n)
}
