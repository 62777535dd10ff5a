import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['btc', 'eth'] })
})
afterAll(() => world.stop())

test('a deposit above the maximum is refunded, less the network fee', async () => {
  const [to, back] = [await world.wallet('eth'), await world.wallet('btc')]
  const exchange = await world.create({
    from: 'btc@btc',
    to: 'eth@eth',
    amount: '0.01',
    address: to.address,
    refundAddress: back.address,
  })
  const { max } = await world.rate('btc@btc', 'eth@eth', '0.01')
  const amount = (max * 1.05).toFixed(6)
  await expectRefund(
    world,
    { currency: 'btc@btc', amount, address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await world.deposit(exchange, amount)
      const { statusReason } = await world.settles(exchange, 'refunded')
      expect(statusReason).toBe('ABOVE_MAX')
    },
  )
  expect(await world.balance('eth@eth', to.address)).toBe('0')
  await world.invariants()
})
