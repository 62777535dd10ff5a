import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { belowMin, expectRefund, items, statuses } from '../support/facts.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('what comes after the end and is too little goes back, and the status stays', async () => {
  const [to, back] = [await scenario.wallet('eth'), await scenario.wallet('ltc')]
  const exchange = await scenario.create({
    from: 'ltc@ltc',
    to: 'eth@eth',
    amount: '1',
    address: to.address,
    refundAddress: back.address,
  })
  await scenario.deposit(exchange, '1')
  await scenario.settles(exchange, 'finished')
  const amount = await belowMin(scenario, 'ltc@ltc', 'eth@eth', 8)
  await expectRefund(
    scenario,
    { currency: 'ltc@ltc', amount, address: back.address, quoteFrom: 'eth@eth', decimals: 8 },
    async () => {
      await scenario.deposit(exchange, amount)
      await scenario.until(
        'the second deposit is refunded',
        async () => (await scenario.status(exchange)).exchanges[1]?.status === 'refunded',
      )
    },
  )
  const { status, exchanges } = await scenario.status(exchange)
  expect(status).toBe('finished')
  expect(exchanges.map((item: Json) => item.statusReason)).toEqual([null, 'BELOW_MIN'])
  expect(await scenario.balance('eth@eth', to.address)).toBe(exchanges[0].amountToReceived)
  await scenario.invariants()
})

test('what comes after the end and is enough is executed, and the status stays', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1', address })
  await scenario.deposit(exchange, '1')
  await scenario.settles(exchange, 'finished')
  await scenario.deposit(exchange, '2')
  const done = await items(scenario, exchange, 2, 'finished')
  expect(await statuses(scenario, exchange)).toEqual(expect.arrayContaining(['finished']))
  expect((await statuses(scenario, exchange)).at(-1)).toBe('finished')
  const paid = done.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await scenario.balance('eth@eth', address), 18)).toBe(paid)
  await scenario.invariants()
})
