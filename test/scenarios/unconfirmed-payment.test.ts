import { afterAll, beforeAll, expect, test } from 'vitest'
import { whileMiningPaused } from '../support/mining.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readBalance } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('shows an unconfirmed payment as confirming and credits nothing before its block', async () => {
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1' })
  await whileMiningPaused(scenario, 'ltc', async () => {
    await scenario.deposit(exchange, '1')
    const confirming = await scenario.waitForStatus(exchange, 'confirming')
    expect(confirming.exchanges).toEqual([])
    expect(await readBalance(scenario, `liability:exchange:${exchange.id}`, 'ltc@ltc')).toBe(0n)
  })
  await scenario.waitForStatus(exchange, 'finished')
  await scenario.checkInvariants()
})
