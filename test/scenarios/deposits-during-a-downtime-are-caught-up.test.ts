import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['btc', 'eth'] })
})
afterAll(() => world.stop())

test('what was paid and mined while nobody watched is found and executed', async () => {
  const { address } = await world.wallet('eth')
  const exchange = await world.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01', address })
  await world.stopWorkers()
  await world.deposit(exchange, '0.01')
  await world.mine('btc', 5)
  expect((await world.status(exchange)).status).toBe('pending')
  await world.startWorkers()
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(await world.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
