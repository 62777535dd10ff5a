import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { exchangeStatuses } from '../../../src/exchange/domain/exchange.ts'
import { btc } from '../../../src/exchange/domain/pricing.fixture.ts'
import { partnerId } from '../../exchange/money-path.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

/** Legs of three executions in the order of their deposits: the customer pays again after the second leg was funded. */
const LEGS = [0, 1, 0]
/** Each execution has one of the statuses or is absent, below each status of the exchange. */
const COMBINATIONS = exchangeStatuses.length * (exchangeStatuses.length + 1) ** LEGS.length

let app: TestDatabase
beforeAll(async () => {
  app = await openTestDatabase()
  const { database } = app
  await database.query(
    `create table combinations as select gen_random_uuid() as id, s.status, array[a.status, b.status, c.status] as executions
     from unnest($1::text[]) as s (status), unnest($2::text[]) as a (status), unnest($2::text[]) as b (status), unnest($2::text[]) as c (status)`,
    [exchangeStatuses, [null, ...exchangeStatuses]],
  )
  await database.query(
    `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units, recipient_address, partner_fee_bps, status, expires_at)
     select id, $1, 'private', 'standard', 'btc', 'btc', 'eth', 'eth', $2, 1, 1, 'r', 0, status, now() from combinations`,
    [partnerId, JSON.stringify([{ from: btc.asset, to: btc.asset }])],
  )
  await database.query(
    "insert into deposit_targets (exchange_id, leg, network, address, memo, key_index) select id, 0, 'btc', id::text, '', row_number() over () from combinations",
  )
  await database.query(
    `insert into deposits (network, identity, tx_hash, exchange_id, leg, address, units, required_confirmations)
     select 'btc', c.id || ':' || n, n, c.id, ($1::int[])[n], c.id::text, 1, 1
     from combinations c, generate_series(1, $2::int) n where c.executions[n] is not null order by c.id, n`,
    [LEGS, LEGS.length],
  )
  await database.query(
    `insert into executions (id, exchange_id, deposit_id, leg, payin_hash, status)
     select gen_random_uuid(), c.id, d.id, d.leg, d.tx_hash, c.executions[d.tx_hash::int]
     from combinations c join deposits d on d.exchange_id = c.id`,
  )
  await database.query('analyze')
})
afterAll(() => app.close())

test('a list filtered by status finds the exchanges that the response shows with it', async () => {
  const { exchanges } = createStore(app.database, payeeMacs)
  const listed = new Set<string>()
  for (const status of exchangeStatuses) {
    const views = await exchanges.list({ partnerId, status }, null, COMBINATIONS, 0)
    expect(views.length, status).toBeGreaterThan(0)
    expect(views.filter(({ exchange }) => exchange.status !== status)).toEqual([])
    expect(await exchanges.count({ partnerId, status })).toBe(views.length)
    for (const { exchange } of views) listed.add(exchange.id)
  }
  expect(listed.size).toBe(COMBINATIONS)
})
