import { afterAll, beforeAll, expect, test } from 'vitest'
import { whileMiningPaused } from '../support/mining.ts'
import { callNode } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readBalance, waitForHeight, waitForItems } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('requires twice the confirmations for a deposit above 1000 USD', async () => {
  // 12 LTC at the sandbox's frozen price of 104 USD.
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '12' })
  const { confirmations } = scenario.app.chains.get('ltc')?.network ?? { confirmations: 0 }
  await whileMiningPaused(scenario, 'ltc', async () => {
    await scenario.deposit(exchange, '12')
    await scenario.mine('ltc', 2 * confirmations - 1)
    await waitForHeight(scenario, 'ltc', await callNode('ltc', 'getblockcount'))
    await waitForItems(scenario, exchange, 1, 'confirming')
    expect(await readBalance(scenario, `liability:exchange:${exchange.id}`, 'ltc@ltc')).toBe(0n)
    await scenario.checkInvariants()
  })
  await scenario.waitForStatus(exchange, 'finished')
  await scenario.checkInvariants()
})
