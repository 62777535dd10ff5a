import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readBalance } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test.each([
  ['eth@eth', '0.4'],
  ['usdt@eth', '500'],
] as const)('sweeps %s from the deposit address to the hot wallet', async (currency, amount) => {
  const exchange = await scenario.create({ from: currency, to: 'btc@btc', amount })
  await scenario.deposit(exchange, amount)
  await scenario.waitForStatus(exchange, 'finished')
  await scenario.until(
    'the ledger has nothing on deposit addresses',
    async () => (await readBalance(scenario, 'asset:deposits', currency)) === 0n,
  )
  // Native currency leaves a remainder: the maximum gas cost of the sweep minus its actual cost.
  const readRemainder = async () => Number(await scenario.balance(currency, exchange.request.depositAddress))
  await scenario.until(
    'the deposit is swept on chain',
    async () => (await readRemainder()) < (currency === 'usdt@eth' ? 0.000_001 : 0.001),
  )
  // The app's own gas transfer to the address is not shown as an unconfirmed payment.
  expect(await scenario.app.database.query('select tx_hash from sightings where gone_at is null')).toEqual([])
  await scenario.checkInvariants()
})
