import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('exchanges a token to bitcoin', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '750.25', address })
  await scenario.deposit(exchange, '750.25')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('750.25')
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
