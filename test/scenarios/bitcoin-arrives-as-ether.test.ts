import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('bitcoin that is paid on one chain arrives as ether on another', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01', address })
  await scenario.deposit(exchange, '0.01')
  const done = await scenario.settles(exchange, 'finished')
  const [item] = done.exchanges
  expect(done.exchanges).toHaveLength(1)
  expect(item.amountFromReceived).toBe('0.01')
  expect(await scenario.balance('eth@eth', address)).toBe(item.amountToReceived)
  await scenario.invariants()
})
