import { formatUnits, parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import {
  computeAmountBelowMin,
  createLitecoinExchange,
  expectRefund,
  readStatusHistory,
} from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('refunds a deposit below the minimum, minus the network fee', async () => {
  const { exchange, recipient, refundWallet } = await createLitecoinExchange(scenario)
  const amount = await computeAmountBelowMin(scenario, 'ltc@ltc', 'eth@eth', 8)
  await expectRefund(
    scenario,
    { currency: 'ltc@ltc', amount, address: refundWallet.address, decimals: 8 },
    async () => {
      await scenario.deposit(exchange, amount)
      const { statusReason, exchanges } = await scenario.waitForStatus(exchange, 'refunded')
      expect(statusReason).toBe('BELOW_MIN')
      expect(exchanges[0]).toMatchObject({
        amountFromReceived: formatUnits(parseUnits(amount, 8), 8),
        amountToReceived: null,
        payoutHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        refund: {
          amount: await scenario.balance('ltc@ltc', refundWallet.address),
          currency: 'ltc',
          network: 'ltc',
          address: refundWallet.address,
          memo: null,
          hash: exchanges[0].payoutHash,
        },
      })
    },
  )
  expect(await readStatusHistory(scenario, exchange)).toEqual(['confirming', 'refunding', 'refunded'])
  expect(await scenario.balance('eth@eth', recipient.address)).toBe('0')
  await scenario.checkInvariants()
})
