import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { expectPublishedPayout } from '../support/published-payout.ts'
import type { Scenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenarioAloneOn('base', { networks: ['btc', 'base'] })
}, LOCK_MS)
afterAll(() => scenario?.stop())

test('exchanges bitcoin to a token on a rollup', async () => {
  const { address } = await scenario.wallet('base')
  const exchange = await scenario.create({ from: 'btc@btc', to: 'usdc@base', amount: '0.005', address })
  await expectPublishedPayout(scenario, { from: 'btc@btc', to: 'usdc@base', amounts: ['0.005'], address }, async () => {
    await scenario.deposit(exchange, '0.005')
    await scenario.waitForStatus(exchange, 'finished')
  })
  const { exchanges } = await scenario.status(exchange)
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('0.005')
  expect(await scenario.balance('usdc@base', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
