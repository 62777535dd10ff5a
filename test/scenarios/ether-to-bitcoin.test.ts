import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('exchanges ether to bitcoin', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.5', address })
  await scenario.deposit(exchange, '0.5')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('0.5')
  expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
