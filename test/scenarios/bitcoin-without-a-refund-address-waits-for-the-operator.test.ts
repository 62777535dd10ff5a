import { afterAll, beforeAll, expect, test } from 'vitest'
import { alarms, belowMin } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('a deposit below the minimum that nobody says where to return is held, with an alarm', async () => {
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01' })
  await scenario.deposit(exchange, await belowMin(scenario, 'btc@btc', 'eth@eth', 8))
  const held = await scenario.settles(exchange, 'verifying')
  expect(held.statusReason).toBe('NO_REFUND_ADDRESS')
  expect(held.exchanges[0].payoutHash).toBeNull()
  expect(await alarms(scenario, 'held:')).toHaveLength(1)
  await scenario.invariants()
})
