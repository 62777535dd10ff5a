import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked } from '../support/facts.ts'
import { whilePaused } from '../support/mining.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('an unconfirmed payment makes the exchange confirming, and nothing is counted yet', async () => {
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1' })
  await whilePaused(world, 'ltc', async () => {
    await world.deposit(exchange, '1')
    const seen = await world.settles(exchange, 'confirming')
    expect(seen.exchanges).toEqual([])
    expect(await booked(world, `liability:exchange:${exchange.id}`, 'ltc@ltc')).toBe(0n)
  })
  await world.settles(exchange, 'finished')
  await world.invariants()
})
