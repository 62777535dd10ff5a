import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked, caughtUp, items } from '../support/facts.ts'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('above a thousand dollars a deposit needs twice the confirmations', async () => {
  // 12 LTC at the sandbox's frozen 104 dollars.
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '12' })
  const { confirmations } = scenario.app.chains.get('ltc')?.network ?? { confirmations: 0 }
  await whilePaused(scenario, 'ltc', async () => {
    await scenario.deposit(exchange, '12')
    await scenario.mine('ltc', 2 * confirmations - 1)
    await caughtUp(scenario, 'ltc', await nodeCall('ltc', 'getblockcount'))
    await items(scenario, exchange, 1, 'confirming')
    expect(await booked(scenario, `liability:exchange:${exchange.id}`, 'ltc@ltc')).toBe(0n)
  })
  await scenario.settles(exchange, 'finished')
  await scenario.invariants()
})
