import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readBalance } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('credits the proceeds of an exchange without a recipient to the partner', async () => {
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
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges[0].payoutHash).toBeNull()
  const [partner] = await scenario.app.database.query<{ id: string }>("select id from partners where name = 'sandbox'")
  expect(-(await readBalance(scenario, `liability:partner:${partner?.id}`, 'eth@eth'))).toBe(
    parseUnits(exchanges[0].amountToReceived, 18),
  )
  await scenario.checkInvariants()
})
