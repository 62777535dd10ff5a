import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { items } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('each deposit of an exchange is executed by itself', async () => {
  const { address } = await world.wallet('eth')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1', address })
  await Promise.all([world.deposit(exchange, '1'), world.deposit(exchange, '1.5')])
  const done = await items(world, exchange, 2, 'finished')
  expect(done.map((item) => item.amountFromReceived).sort()).toEqual(['1', '1.5'])
  expect(new Set(done.map((item) => item.payinHash)).size).toBe(2)
  const paid = done.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await world.balance('eth@eth', address), 18)).toBe(paid)
  expect((await world.status(exchange)).status).toBe('finished')
  await world.invariants()
})
