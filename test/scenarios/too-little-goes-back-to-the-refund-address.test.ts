import { formatUnits, parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { belowMin, expectRefund, statuses } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('a deposit below the minimum is refunded, less the network fee', async () => {
  const [to, back] = [await world.wallet('eth'), await world.wallet('ltc')]
  const exchange = await world.create({
    from: 'ltc@ltc',
    to: 'eth@eth',
    amount: '1',
    address: to.address,
    refundAddress: back.address,
  })
  const amount = await belowMin(world, 'ltc@ltc', 'eth@eth', 8)
  await expectRefund(
    world,
    { currency: 'ltc@ltc', amount, address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await world.deposit(exchange, amount)
      const { statusReason, exchanges } = await world.settles(exchange, 'refunded')
      expect(statusReason).toBe('BELOW_MIN')
      expect(exchanges[0]).toMatchObject({
        amountFromReceived: formatUnits(parseUnits(amount, 8), 8),
        amountToReceived: null,
        payoutHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        refund: {
          amount: await world.balance('ltc@ltc', back.address),
          currency: 'ltc',
          network: 'ltc',
          address: back.address,
          memo: null,
          hash: exchanges[0].payoutHash,
        },
      })
    },
  )
  expect(await statuses(world, exchange)).toEqual(['confirming', 'refunding', 'refunded'])
  expect(await world.balance('eth@eth', to.address)).toBe('0')
  await world.invariants()
})
