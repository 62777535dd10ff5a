import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('executes deposits that were mined while no watcher ran', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01', address })
  await expectPublishedPayout(scenario, { from: 'btc@btc', to: 'eth@eth', amounts: ['0.01'], address }, async () => {
    await scenario.stopWorkers()
    await scenario.deposit(exchange, '0.01')
    await scenario.mine('btc', 5)
    expect((await scenario.status(exchange)).status).toBe('pending')
    await scenario.startWorkers()
    await scenario.waitForStatus(exchange, 'finished')
  })
  const { exchanges } = await scenario.status(exchange)
  expect(await scenario.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
