import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'
import { expectRefund } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

async function createTetherExchange(): Promise<{ exchange: Json; refundAddress: string }> {
  const { address } = await scenario.wallet('eth')
  return {
    exchange: await scenario.create({ from: 'usdt@eth', to: 'btc@btc', amount: '500', refundAddress: address }),
    refundAddress: address,
  }
}

test('refunds another listed token in that token', async () => {
  const { exchange, refundAddress } = await createTetherExchange()
  await expectRefund(
    scenario,
    { currency: 'usdc@eth', amount: '300', address: refundAddress, decimals: 6 },
    async () => {
      await scenario.deposit(exchange, '300', 'usdc@eth')
      const { statusReason, exchanges } = await scenario.waitForStatus(exchange, 'refunded')
      expect(statusReason).toBe('WRONG_ASSET')
      expect(exchanges[0].amountFromReceived).toBeNull()
      expect(exchanges[0].refund).toMatchObject({
        amount: await scenario.balance('usdc@eth', refundAddress),
        currency: 'usdc',
        network: 'eth',
        address: refundAddress,
        hash: exchanges[0].payoutHash,
      })
    },
  )
  expect(await scenario.balance('usdt@eth', refundAddress)).toBe('0')
  await scenario.checkInvariants()
})

test('refunds native currency in native currency', async () => {
  const { exchange, refundAddress } = await createTetherExchange()
  await expectRefund(
    scenario,
    { currency: 'eth@eth', amount: '0.2', address: refundAddress, decimals: 18 },
    async () => {
      await scenario.deposit(exchange, '0.2', 'eth@eth')
      await scenario.waitForStatus(exchange, 'refunded')
    },
  )
  await scenario.checkInvariants()
})
