import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('litecoin arrives as a token that answers nothing to its transfers', async () => {
  const { address } = await world.wallet('eth')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'usdt@eth', amount: '4', address })
  await world.deposit(exchange, '4')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('4')
  expect(await world.balance('usdt@eth', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
