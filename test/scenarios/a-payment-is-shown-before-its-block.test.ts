import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked } from '../support/facts.ts'
import { whilePaused } from '../support/mining.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('an unconfirmed payment makes the exchange confirming, and nothing is counted yet', async () => {
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1' })
  await whilePaused(scenario, 'ltc', async () => {
    await scenario.deposit(exchange, '1')
    const seen = await scenario.settles(exchange, 'confirming')
    expect(seen.exchanges).toEqual([])
    expect(await booked(scenario, `liability:exchange:${exchange.id}`, 'ltc@ltc')).toBe(0n)
  })
  await scenario.settles(exchange, 'finished')
  await scenario.invariants()
})
