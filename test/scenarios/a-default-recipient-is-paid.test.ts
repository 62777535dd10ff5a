import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('an exchange without an address pays the partner’s default recipient of that currency', async () => {
  const { address } = await world.wallet('eth')
  await world.house.database.query(
    "insert into default_recipients (partner_id, asset_id, address) select id, 'eth@eth', $1 from partners where name = 'sandbox'",
    [address],
  )
  await world.until(
    'the API knows it',
    async () => (await world.house.services.authenticate('sandbox', '127.0.0.1')).partner.defaultRecipients.size > 0,
  )
  const order = {
    fromCurrency: 'ltc',
    fromNetwork: 'ltc',
    toCurrency: 'eth',
    toNetwork: 'eth',
    fromAmount: '1',
    flow: 'standard',
  }
  const { body: exchange } = await world.call('POST', '/v1/cross-chain/exchange', order)
  expect(exchange.request.recipientAddress).toBe(address)
  await world.deposit(exchange, '1')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(await world.balance('eth@eth', address)).toBe(exchanges[0].amountToReceived)
  await world.invariants()
})
