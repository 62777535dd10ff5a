import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'
import { waitForItems } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('executes each deposit of an exchange separately', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1', address })
  const amounts = ['1', '1.5']
  await expectPublishedPayout(scenario, { from: 'ltc@ltc', to: 'eth@eth', amounts, address }, async () => {
    await Promise.all(amounts.map((amount) => scenario.deposit(exchange, amount)))
    await waitForItems(scenario, exchange, 2, 'finished')
  })
  const finished: Json[] = (await scenario.status(exchange)).exchanges
  expect(finished.map((item) => item.amountFromReceived).sort()).toEqual(['1', '1.5'])
  expect(new Set(finished.map((item) => item.payinHash)).size).toBe(2)
  const paidUnits = finished.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await scenario.balance('eth@eth', address), 18)).toBe(paidUnits)
  expect((await scenario.status(exchange)).status).toBe('finished')
  await scenario.checkInvariants()
})
