import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('exchanges litecoin to a token whose transfer function returns nothing', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'usdt@eth', amount: '4', address })
  await scenario.deposit(exchange, '4')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('4')
  expect(await scenario.balance('usdt@eth', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
