import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'
import {
  computeAmountBelowMin,
  createLitecoinExchange,
  expectRefund,
  readStatusHistory,
  waitForItems,
} from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('refunds a further deposit below the minimum and keeps the status finished', async () => {
  const { exchange, recipient, refundWallet } = await createLitecoinExchange(scenario)
  await scenario.deposit(exchange, '1')
  await scenario.waitForStatus(exchange, 'finished')
  const amount = await computeAmountBelowMin(scenario, 'ltc@ltc', 'eth@eth', 8)
  await expectRefund(
    scenario,
    { currency: 'ltc@ltc', amount, address: refundWallet.address, decimals: 8 },
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
  expect(await scenario.balance('eth@eth', recipient.address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})

test('executes a further deposit and keeps the status finished', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '1', address })
  await scenario.deposit(exchange, '1')
  await scenario.waitForStatus(exchange, 'finished')
  await expectPublishedPayout(scenario, { from: 'ltc@ltc', to: 'eth@eth', amounts: ['2'], address }, async () => {
    await scenario.deposit(exchange, '2')
    await waitForItems(scenario, exchange, 2, 'finished')
  })
  const finished: Json[] = (await scenario.status(exchange)).exchanges
  expect(await readStatusHistory(scenario, exchange)).toEqual(expect.arrayContaining(['finished']))
  expect((await readStatusHistory(scenario, exchange)).at(-1)).toBe('finished')
  const paidUnits = finished.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await scenario.balance('eth@eth', address), 18)).toBe(paidUnits)
  await scenario.checkInvariants()
})
