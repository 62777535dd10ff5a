import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test('creates one exchange and returns one response for twenty concurrent creates with the same idempotency key', async () => {
  const { address } = await scenario.wallet('btc')
  const body = {
    fromCurrency: 'eth',
    fromNetwork: 'eth',
    toCurrency: 'btc',
    toNetwork: 'btc',
    fromAmount: '0.4',
    flow: 'standard',
    address,
  }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      scenario.call('POST', '/v1/cross-chain/exchange', body, { 'idempotency-key': 'a key' }),
    ),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
  const { body: list } = await scenario.call('GET', '/v1/cross-chain/exchange/list')
  expect(list.total).toBe(1)
  const conflict = await scenario.call(
    'POST',
    '/v1/cross-chain/exchange',
    { ...body, fromAmount: '0.5' },
    { 'idempotency-key': 'a key' },
  )
  expect([conflict.status, conflict.body.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT'])
  await scenario.checkInvariants()
})
