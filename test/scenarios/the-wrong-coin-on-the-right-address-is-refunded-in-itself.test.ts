import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund } from '../support/facts.ts'
import { type Json, startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

async function createTetherExchange(): Promise<{ exchange: Json; back: string }> {
  const { address } = await world.wallet('eth')
  return {
    exchange: await world.create({ from: 'usdt@eth', to: 'btc@btc', amount: '500', refundAddress: address }),
    back: address,
  }
}

test('another listed token goes back as that token', async () => {
  const { exchange, back } = await createTetherExchange()
  await expectRefund(
    world,
    { currency: 'usdc@eth', amount: '300', address: back, quoteFrom: 'btc@btc', decimals: 6 },
    async () => {
      await world.deposit(exchange, '300', 'usdc@eth')
      const { statusReason, exchanges } = await world.settles(exchange, 'refunded')
      expect(statusReason).toBe('WRONG_ASSET')
      expect(exchanges[0].amountFromReceived).toBeNull()
      expect(exchanges[0].refund).toMatchObject({
        amount: await world.balance('usdc@eth', back),
        currency: 'usdc',
        network: 'eth',
        address: back,
        hash: exchanges[0].payoutHash,
      })
    },
  )
  expect(await world.balance('usdt@eth', back)).toBe('0')
  await world.invariants()
})

test("the network's own coin goes back as coin", async () => {
  const { exchange, back } = await createTetherExchange()
  await expectRefund(
    world,
    { currency: 'eth@eth', amount: '0.2', address: back, quoteFrom: 'btc@btc', decimals: 18 },
    async () => {
      await world.deposit(exchange, '0.2', 'eth@eth')
      await world.settles(exchange, 'refunded')
    },
  )
  await world.invariants()
})
