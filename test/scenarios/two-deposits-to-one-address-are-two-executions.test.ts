import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { items } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('each deposit of an exchange is executed by itself', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1', address })
  await Promise.all([scenario.deposit(exchange, '1'), scenario.deposit(exchange, '1.5')])
  const done = await items(scenario, exchange, 2, 'finished')
  expect(done.map((item) => item.amountFromReceived).sort()).toEqual(['1', '1.5'])
  expect(new Set(done.map((item) => item.payinHash)).size).toBe(2)
  const paid = done.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await scenario.balance('eth@eth', address), 18)).toBe(paid)
  expect((await scenario.status(exchange)).status).toBe('finished')
  await scenario.invariants()
})
