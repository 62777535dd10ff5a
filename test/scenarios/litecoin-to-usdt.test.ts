import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('exchanges litecoin to a token whose transfer function returns nothing', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'usdt@eth', amount: '4', address })
  await expectPublishedPayout(scenario, { from: 'ltc@ltc', to: 'usdt@eth', amounts: ['4'], address }, async () => {
    await scenario.deposit(exchange, '4')
    await scenario.waitForStatus(exchange, 'finished')
  })
  const { exchanges } = await scenario.status(exchange)
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('4')
  expect(await scenario.balance('usdt@eth', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
