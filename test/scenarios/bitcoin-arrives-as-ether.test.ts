import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['btc', 'eth'] })
})
afterAll(() => world.stop())

test('bitcoin that is paid on one chain arrives as ether on another', async () => {
  const { address } = await world.wallet('eth')
  const exchange = await world.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01', address })
  await world.deposit(exchange, '0.01')
  const done = await world.settles(exchange, 'finished')
  const [item] = done.exchanges
  expect(done.exchanges).toHaveLength(1)
  expect(item.amountFromReceived).toBe('0.01')
  expect(await world.balance('eth@eth', address)).toBe(item.amountToReceived)
  await world.invariants()
})
