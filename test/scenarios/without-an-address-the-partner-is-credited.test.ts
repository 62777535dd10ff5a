import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('the proceeds of an exchange without a recipient are the partner’s in the ledger', async () => {
  const order = {
    fromCurrency: 'ltc',
    fromNetwork: 'ltc',
    toCurrency: 'eth',
    toNetwork: 'eth',
    fromAmount: '1',
    flow: 'standard',
  }
  const { status, body: exchange } = await scenario.call('POST', '/v1/cross-chain/exchange', order)
  expect([status, exchange.request.recipientAddress]).toEqual([201, ''])
  await scenario.deposit(exchange, '1')
  const { exchanges } = await scenario.settles(exchange, 'finished')
  expect(exchanges[0].payoutHash).toBeNull()
  const [partner] = await scenario.app.database.query<{ id: string }>("select id from partners where name = 'sandbox'")
  expect(-(await booked(scenario, `liability:partner:${partner?.id}`, 'eth@eth'))).toBe(
    parseUnits(exchanges[0].amountToReceived, 18),
  )
  await scenario.invariants()
})
