import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked, caughtUp, items } from '../support/facts.ts'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('above a thousand dollars a deposit needs twice the confirmations', async () => {
  // 12 LTC at the sandbox's frozen 104 dollars.
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '12' })
  const { confirmations } = world.house.chains.get('ltc')?.network ?? { confirmations: 0 }
  await whilePaused(world, 'ltc', async () => {
    await world.deposit(exchange, '12')
    await world.mine('ltc', 2 * confirmations - 1)
    await caughtUp(world, 'ltc', await nodeCall('ltc', 'getblockcount'))
    await items(world, exchange, 1, 'confirming')
    expect(await booked(world, `liability:exchange:${exchange.id}`, 'ltc@ltc')).toBe(0n)
  })
  await world.settles(exchange, 'finished')
  await world.invariants()
})
