import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('exchanges a token to bitcoin', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '750.25', address })
  await expectPublishedPayout(scenario, { from: 'usdt@eth', to: 'btc@btc', amounts: ['750.25'], address }, async () => {
    await scenario.deposit(exchange, '750.25')
    await scenario.waitForStatus(exchange, 'finished')
  })
  const { exchanges } = await scenario.status(exchange)
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('750.25')
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
