import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked } from '../support/facts.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

test.each([
  ['eth@eth', '0.4'],
  ['usdt@eth', '500'],
] as const)('%s moves from its deposit address to the hot wallet', async (currency, amount) => {
  const exchange = await world.create({ from: currency, to: 'btc@btc', amount })
  await world.deposit(exchange, amount)
  await world.settles(exchange, 'finished')
  await world.until('nothing lies on deposit addresses', async () => (await booked(world, 'asset:deposits', currency)) === 0n, 55_000)
  const left = await world.balance(currency, exchange.request.depositAddress)
  if (currency === 'usdt@eth') expect(left).toBe('0')
  else expect(Number(left)).toBeLessThan(0.001)
  await world.invariants()
}, 110_000)
