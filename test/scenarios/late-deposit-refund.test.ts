import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { createLitecoinExchange, expectRefund, readStatusHistory } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'], settings: { expiryMs: 2_000 } })
})
afterAll(() => scenario.stop())

test('refunds a deposit after the expiry: failed, refunding, refunded', async () => {
  const { exchange, recipient, refundWallet } = await createLitecoinExchange(scenario)
  await scenario.waitForStatus(exchange, 'failed')
  await expectRefund(
    scenario,
    { currency: 'ltc@ltc', amount: '1', address: refundWallet.address, decimals: 8 },
    async () => {
      await scenario.deposit(exchange, '1')
      const { exchanges } = await scenario.waitForStatus(exchange, 'refunded')
      expect(exchanges[0].statusReason).toBe('LATE_DEPOSIT')
    },
  )
  expect(await readStatusHistory(scenario, exchange)).toEqual(['failed', 'refunding', 'refunded'])
  expect(await scenario.balance('eth@eth', recipient.address)).toBe('0')
  await scenario.checkInvariants()
})
