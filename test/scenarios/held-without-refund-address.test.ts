import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { computeAmountBelowMin, readAlarms } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('holds a bitcoin deposit below the minimum without a refund address and raises an alarm', async () => {
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01' })
  await scenario.deposit(exchange, await computeAmountBelowMin(scenario, 'btc@btc', 'eth@eth', 8))
  const held = await scenario.waitForStatus(exchange, 'verifying')
  expect(held.statusReason).toBe('NO_REFUND_ADDRESS')
  expect(held.exchanges[0].payoutHash).toBeNull()
  expect(await readAlarms(scenario, 'held:')).toHaveLength(1)
  await scenario.checkInvariants()
})
