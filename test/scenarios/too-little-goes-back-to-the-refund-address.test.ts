import { formatUnits, parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { belowMin, expectRefund, statuses } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('a deposit below the minimum is refunded, less the network fee', async () => {
  const [to, back] = [await scenario.wallet('eth'), await scenario.wallet('ltc')]
  const exchange = await scenario.create({
    from: 'ltc@ltc',
    to: 'eth@eth',
    amount: '1',
    address: to.address,
    refundAddress: back.address,
  })
  const amount = await belowMin(scenario, 'ltc@ltc', 'eth@eth', 8)
  await expectRefund(
    scenario,
    { currency: 'ltc@ltc', amount, address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await scenario.deposit(exchange, amount)
      const { statusReason, exchanges } = await scenario.settles(exchange, 'refunded')
      expect(statusReason).toBe('BELOW_MIN')
      expect(exchanges[0]).toMatchObject({
        amountFromReceived: formatUnits(parseUnits(amount, 8), 8),
        amountToReceived: null,
        payoutHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        refund: {
          amount: await scenario.balance('ltc@ltc', back.address),
          currency: 'ltc',
          network: 'ltc',
          address: back.address,
          memo: null,
          hash: exchanges[0].payoutHash,
        },
      })
    },
  )
  expect(await statuses(scenario, exchange)).toEqual(['confirming', 'refunding', 'refunded'])
  expect(await scenario.balance('eth@eth', to.address)).toBe('0')
  await scenario.invariants()
})
