import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

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
  await world.until(
    'the ledger has nothing on deposit addresses',
    async () => (await booked(world, 'asset:deposits', currency)) === 0n,
  )
  // Of the coin itself, what the sweep could have cost at most stays behind.
  const left = async () => Number(await world.balance(currency, exchange.request.depositAddress))
  await world.until('it is swept on chain', async () => (await left()) < (currency === 'usdt@eth' ? 0.000_001 : 0.001))
  // Gas that the house itself brought to the address is no payment on its way.
  expect(await world.house.database.query('select tx_hash from sightings where gone_at is null')).toEqual([])
  await world.invariants()
})
