import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', 'eth'] })
})
afterAll(() => scenario.stop())

test('pays the partner’s default recipient of the currency if the order has no address', async () => {
  const { address } = await scenario.wallet('eth')
  await scenario.app.database.query(
    "insert into default_recipients (partner_id, asset_id, address) select id, 'eth@eth', $1 from partners where name = 'sandbox'",
    [address],
  )
  await scenario.until(
    'the API reads the default recipient',
    async () => (await scenario.app.services.authenticate('sandbox', '127.0.0.1')).partner.defaultRecipients.size > 0,
  )
  const order = {
    fromCurrency: 'ltc',
    fromNetwork: 'ltc',
    toCurrency: 'eth',
    toNetwork: 'eth',
    fromAmount: '1',
    flow: 'standard',
  }
  const { body: exchange } = await scenario.call('POST', '/v1/cross-chain/exchange', order)
  expect(exchange.request.recipientAddress).toBe(address)
  await scenario.deposit(exchange, '1')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(await scenario.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
