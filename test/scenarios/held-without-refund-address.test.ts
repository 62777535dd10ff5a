import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { computeAmountBelowMin, readAlarms } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('holds a refund without a refund address until the partner names one', async () => {
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01' })
  await scenario.deposit(exchange, await computeAmountBelowMin(scenario, 'btc@btc', 'eth@eth', 8))
  const held = await scenario.waitForStatus(exchange, 'verifying')
  expect(held.statusReason).toBe('REFUND_ADDRESS_REQUIRED')
  expect(held.exchanges[0].payoutHash).toBeNull()
  expect(await readAlarms(scenario, 'held:')).toEqual([])
  const { address } = await scenario.wallet('btc')
  const name = (refundAddress: string) =>
    scenario.call('POST', '/v1/cross-chain/exchange/refund-address', { id: exchange.id, refundAddress })
  expect(await name('nowhere')).toMatchObject({ status: 400, body: { code: 'INVALID_REFUND_ADDRESS' } })
  expect(await name(exchange.request.depositAddress)).toMatchObject({ status: 400, body: { code: 'ADDRESS_IS_OURS' } })
  const named = { id: exchange.id, refundAddress: address, refundMemo: null }
  expect(await name(address)).toMatchObject({ status: 201, body: named })
  expect(await name(address)).toMatchObject({ status: 201, body: named })
  const another = (await scenario.wallet('btc')).address
  expect(await name(another)).toMatchObject({ status: 409, body: { code: 'REFUND_ADDRESS_SET' } })
  const refunded = await scenario.waitForStatus(exchange, 'refunded')
  expect(refunded.exchanges[0].refund).toMatchObject({ address })
  expect(Number(await scenario.balance('btc@btc', address))).toBeGreaterThan(0)
  await scenario.checkInvariants()
})
