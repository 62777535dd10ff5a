import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { waitForItems } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('executes each deposit of an exchange separately', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1', address })
  await Promise.all([scenario.deposit(exchange, '1'), scenario.deposit(exchange, '1.5')])
  const finished = await waitForItems(scenario, exchange, 2, 'finished')
  expect(finished.map((item) => item.amountFromReceived).sort()).toEqual(['1', '1.5'])
  expect(new Set(finished.map((item) => item.payinHash)).size).toBe(2)
  const paidUnits = finished.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await scenario.balance('eth@eth', address), 18)).toBe(paidUnits)
  expect((await scenario.status(exchange)).status).toBe('finished')
  await scenario.checkInvariants()
})
