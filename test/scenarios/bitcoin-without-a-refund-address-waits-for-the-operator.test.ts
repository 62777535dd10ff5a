import { afterAll, beforeAll, expect, test } from 'vitest'
import { alarms, belowMin } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['btc', 'eth'] })
})
afterAll(() => world.stop())

test('a deposit below the minimum that nobody says where to return is held, with an alarm', async () => {
  const exchange = await world.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01' })
  await world.deposit(exchange, await belowMin(world, 'btc@btc', 'eth@eth', 8))
  const held = await world.settles(exchange, 'verifying')
  expect(held.statusReason).toBe('NO_REFUND_ADDRESS')
  expect(held.exchanges[0].payoutHash).toBeNull()
  expect(await alarms(world, 'held:')).toHaveLength(1)
  await world.invariants()
})
