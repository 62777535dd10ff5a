import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefund, statuses } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'], settings: { expiryMs: 2_000 } })
})
afterAll(() => world.stop())

test('a deposit after the expiry goes back: failed, refunding, refunded', async () => {
  const [to, back] = [await world.wallet('eth'), await world.wallet('ltc')]
  const exchange = await world.create({
    from: 'ltc@ltc',
    to: 'eth@eth',
    amount: '1',
    address: to.address,
    refundAddress: back.address,
  })
  await world.settles(exchange, 'failed')
  await expectRefund(
    world,
    { currency: 'ltc@ltc', amount: '1', address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await world.deposit(exchange, '1')
      const { exchanges } = await world.settles(exchange, 'refunded')
      expect(exchanges[0].statusReason).toBe('LATE_DEPOSIT')
    },
  )
  expect(await statuses(world, exchange)).toEqual(['failed', 'refunding', 'refunded'])
  expect(await world.balance('eth@eth', to.address)).toBe('0')
  await world.invariants()
})
