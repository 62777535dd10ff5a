import { afterAll, beforeAll, expect, test } from 'vitest'
import { readExchangeDetails } from '../../../src/adapters/postgres/exchange/exchange-details.ts'
import { ltc } from '../../exchange/money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from '../../exchange/private/private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())

test('lists both legs partsOf a finished private exchange with their payouts', async () => {
  const exchange = await fixture.createExchange({ via: ltc, plan })
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(14)
  const details = await readExchangeDetails(fixture.database, exchange.id)
  expect(details).toMatchObject({ exchange: { id: exchange.id, type: 'private', status: 'finished' }, plan })
  const partsOf = (what: string) => details?.parts.filter((part) => part['what'] === what) ?? []
  const executions = await fixture.listExecutions(exchange)
  expect(partsOf('address')).toHaveLength(2)
  expect(partsOf('execution')).toMatchObject(executions.map(({ leg, id, status }) => ({ leg, id, status })))
  expect(partsOf('payout')).toMatchObject(
    executions.map(({ payoutHash }) => ({ purpose: 'payout', state: 'confirmed', tx_hashes: [payoutHash] })),
  )
  const events = partsOf('event').map(({ event }) => event)
  expect(events).toEqual(await fixture.listEvents(exchange))
  expect(events.length).toBeGreaterThan(2)
  expect(await readExchangeDetails(fixture.database, 'x')).toBeNull()
})
