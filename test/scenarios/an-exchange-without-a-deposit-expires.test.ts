import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'], settings: { expiryMs: 2_000, fixedLockMs: 2_000 } })
})
afterAll(() => world.stop())

test('nothing comes: the exchange fails when its time is over', async () => {
  const exchange = await world.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  expect((await world.status(exchange)).status).toBe('pending')
  const failed = await world.settles(exchange, 'failed')
  expect(failed.statusReason).toBe('EXPIRED')
  expect(failed.exchanges).toEqual([])
  await world.invariants()
})

test('a fixed rate that expires gives its reserve back', async () => {
  const held = async () => (await world.house.store.inventory.available()).get('btc@btc')
  const before = await held()
  const { rateId } = await world.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  const exchange = await world.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4', flow: 'fixed-rate', rateId })
  await world.settles(exchange, 'failed')
  await world.until('the reserve is free again', async () => (await held()) === before)
  await world.invariants()
})
