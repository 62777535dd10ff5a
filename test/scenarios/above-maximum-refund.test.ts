import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { expectRefund } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('refunds a deposit above the maximum, minus the network fee', async () => {
  const [recipient, refundWallet] = [await scenario.wallet('eth'), await scenario.wallet('btc')]
  const exchange = await scenario.create({
    from: 'btc@btc',
    to: 'eth@eth',
    amount: '0.01',
    address: recipient.address,
    refundAddress: refundWallet.address,
  })
  const { max } = await scenario.rate('btc@btc', 'eth@eth', '0.01')
  const amount = (max * 1.05).toFixed(6)
  await expectRefund(
    scenario,
    { currency: 'btc@btc', amount, address: refundWallet.address, decimals: 8 },
    async () => {
      await scenario.deposit(exchange, amount)
      const { statusReason } = await scenario.waitForStatus(exchange, 'refunded')
      expect(statusReason).toBe('ABOVE_MAX')
    },
  )
  expect(await scenario.balance('eth@eth', recipient.address)).toBe('0')
  await scenario.checkInvariants()
})
