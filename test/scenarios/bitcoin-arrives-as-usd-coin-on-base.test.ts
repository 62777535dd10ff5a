import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { lockMarket } from '../support/market-lock.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
let unlock: () => Promise<void>
beforeAll(async () => {
  // Swaps under test reorganise it, which drops what everybody paid there.
  unlock = await lockMarket(inject('databaseUrl'), 'base')
  world = await startWorld({ networks: ['btc', 'base'] })
}, 400_000)
afterAll(async () => {
  await world?.stop()
  await unlock?.()
})

test('bitcoin arrives as a token on a rollup', async () => {
  const { address } = await world.wallet('base')
  const exchange = await world.create({ from: 'btc@btc', to: 'usdc@base', amount: '0.005', address })
  await world.deposit(exchange, '0.005')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges).toHaveLength(1)
  expect(exchanges[0].amountFromReceived).toBe('0.005')
  expect(await world.balance('usdc@base', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
