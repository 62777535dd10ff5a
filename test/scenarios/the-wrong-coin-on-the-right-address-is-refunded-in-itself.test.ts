import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund } from '../support/facts.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

async function createTetherExchange(): Promise<{ exchange: Json; back: string }> {
  const { address } = await scenario.wallet('eth')
  return {
    exchange: await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '500', refundAddress: address }),
    back: address,
  }
}

test('another listed token goes back as that token', async () => {
  const { exchange, back } = await createTetherExchange()
  await expectRefund(
    scenario,
    { currency: 'usdc@eth', amount: '300', address: back, quoteFrom: 'btc@btc', decimals: 6 },
    async () => {
      await scenario.deposit(exchange, '300', 'usdc@eth')
      const { statusReason, exchanges } = await scenario.settles(exchange, 'refunded')
      expect(statusReason).toBe('WRONG_ASSET')
      expect(exchanges[0].amountFromReceived).toBeNull()
      expect(exchanges[0].refund).toMatchObject({
        amount: await scenario.balance('usdc@eth', back),
        currency: 'usdc',
        network: 'eth',
        address: back,
        hash: exchanges[0].payoutHash,
      })
    },
  )
  expect(await scenario.balance('usdt@eth', back)).toBe('0')
  await scenario.invariants()
})

test("the network's own coin goes back as coin", async () => {
  const { exchange, back } = await createTetherExchange()
  await expectRefund(
    scenario,
    { currency: 'eth@eth', amount: '0.2', address: back, quoteFrom: 'btc@btc', decimals: 18 },
    async () => {
      await scenario.deposit(exchange, '0.2', 'eth@eth')
      await scenario.settles(exchange, 'refunded')
    },
  )
  await scenario.invariants()
})
