import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

test('a token deposit arrives as bitcoin', async () => {
  const { address } = await world.wallet('btc')
  const exchange = await world.create({ from: 'usdt@eth', to: 'btc@btc', amount: '750.25', address })
  await world.deposit(exchange, '750.25')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('750.25')
  expect(await world.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
