import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { belowMin, expectRefund, items, statuses } from '../support/facts.ts'
import { type Json, startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('what comes after the end and is too little goes back, and the status stays', async () => {
  const [to, back] = [await world.wallet('eth'), await world.wallet('ltc')]
  const exchange = await world.create({
    from: 'ltc@ltc',
    to: 'eth@eth',
    amount: '1',
    address: to.address,
    refundAddress: back.address,
  })
  await world.deposit(exchange, '1')
  await world.settles(exchange, 'finished')
  const amount = await belowMin(world, 'ltc@ltc', 'eth@eth', 8)
  await expectRefund(
    world,
    { currency: 'ltc@ltc', amount, address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await world.deposit(exchange, amount)
      await world.until(
        'the second deposit is refunded',
        async () => (await world.status(exchange)).exchanges[1]?.status === 'refunded',
      )
    },
  )
  const { status, exchanges } = await world.status(exchange)
  expect(status).toBe('finished')
  expect(exchanges.map((item: Json) => item.statusReason)).toEqual([null, 'BELOW_MIN'])
  expect(await world.balance('eth@eth', to.address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})

test('what comes after the end and is enough is executed, and the status stays', async () => {
  const { address } = await world.wallet('eth')
  const exchange = await world.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1', address })
  await world.deposit(exchange, '1')
  await world.settles(exchange, 'finished')
  await world.deposit(exchange, '2')
  const done = await items(world, exchange, 2, 'finished')
  expect(await statuses(world, exchange)).toEqual(expect.arrayContaining(['finished']))
  expect((await statuses(world, exchange)).at(-1)).toBe('finished')
  const paid = done.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await world.balance('eth@eth', address), 18)).toBe(paid)
  await world.invariants()
})
