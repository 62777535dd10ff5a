import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['btc', 'eth'] })
})
afterAll(() => world.stop())

test('ether that is paid on one chain arrives as bitcoin on another', async () => {
  const { address } = await world.wallet('btc')
  const exchange = await world.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.5', address })
  await world.deposit(exchange, '0.5')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('0.5')
  expect(await world.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
