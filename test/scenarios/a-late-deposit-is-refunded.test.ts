import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund, statuses } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'], settings: { expiryMs: 2_000 } })
})
afterAll(() => scenario.stop())

test('a deposit after the expiry goes back: failed, refunding, refunded', async () => {
  const [to, back] = [await scenario.wallet('eth'), await scenario.wallet('ltc')]
  const exchange = await scenario.create({
    from: 'ltc@ltc',
    to: 'eth@eth',
    amount: '1',
    address: to.address,
    refundAddress: back.address,
  })
  await scenario.settles(exchange, 'failed')
  await expectRefund(
    scenario,
    { currency: 'ltc@ltc', amount: '1', address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await scenario.deposit(exchange, '1')
      const { exchanges } = await scenario.settles(exchange, 'refunded')
      expect(exchanges[0].statusReason).toBe('LATE_DEPOSIT')
    },
  )
  expect(await statuses(scenario, exchange)).toEqual(['failed', 'refunding', 'refunded'])
  expect(await scenario.balance('eth@eth', to.address)).toBe('0')
  await scenario.invariants()
})
