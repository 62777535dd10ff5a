import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('exchanges ether to bitcoin', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.5', address })
  await expectPublishedPayout(scenario, { from: 'eth@eth', to: 'btc@btc', amounts: ['0.5'], address }, async () => {
    await scenario.deposit(exchange, '0.5')
    await scenario.waitForStatus(exchange, 'finished')
  })
  const { exchanges } = await scenario.status(exchange)
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('0.5')
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
