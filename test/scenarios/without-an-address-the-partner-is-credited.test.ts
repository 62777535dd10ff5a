import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked } from '../support/facts.ts'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['ltc', 'eth'] })
})
afterAll(() => world.stop())

test('the proceeds of an exchange without a recipient are the partner’s in the ledger', async () => {
  const order = {
    fromCurrency: 'ltc',
    fromNetwork: 'ltc',
    toCurrency: 'eth',
    toNetwork: 'eth',
    fromAmount: '1',
    flow: 'standard',
  }
  const { status, body: exchange } = await world.call('POST', '/v1/cross-chain/exchange', order)
  expect([status, exchange.request.recipientAddress]).toEqual([201, ''])
  await world.deposit(exchange, '1')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges[0].payoutHash).toBeNull()
  const [partner] = await world.house.database.query<{ id: string }>("select id from partners where name = 'sandbox'")
  expect(-(await booked(world, `liability:partner:${partner?.id}`, 'eth@eth'))).toBe(
    parseUnits(exchanges[0].amountToReceived, 18),
  )
  await world.invariants()
})
