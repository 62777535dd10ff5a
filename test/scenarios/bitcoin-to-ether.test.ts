import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('exchanges bitcoin to ether at the published prices, spread and network fee', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01', address })
  await expectPublishedPayout(scenario, { from: 'btc@btc', to: 'eth@eth', amounts: ['0.01'], address }, async () => {
    await scenario.deposit(exchange, '0.01')
    await scenario.waitForStatus(exchange, 'finished')
  })
  const { exchanges } = await scenario.status(exchange)
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('0.01')
  expect(await scenario.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
