import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCK_MS, startWorldAloneOn } from '../support/market-lock.ts'
import type { World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorldAloneOn('base', { networks: ['btc', 'base'] })
}, LOCK_MS)
afterAll(() => world?.stop())

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
