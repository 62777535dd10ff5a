import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('a deposit above the maximum is refunded, less the network fee', async () => {
  const [to, back] = [await scenario.wallet('eth'), await scenario.wallet('btc')]
  const exchange = await scenario.create({
    from: 'btc@btc',
    to: 'eth@eth',
    amount: '0.01',
    address: to.address,
    refundAddress: back.address,
  })
  const { max } = await scenario.rate('btc@btc', 'eth@eth', '0.01')
  const amount = (max * 1.05).toFixed(6)
  await expectRefund(
    scenario,
    { currency: 'btc@btc', amount, address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await scenario.deposit(exchange, amount)
      const { statusReason } = await scenario.settles(exchange, 'refunded')
      expect(statusReason).toBe('ABOVE_MAX')
    },
  )
  expect(await scenario.balance('eth@eth', to.address)).toBe('0')
  await scenario.invariants()
})
