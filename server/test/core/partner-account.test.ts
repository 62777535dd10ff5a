import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import { createOwnAccount } from '../../src/app/partner-account.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import { openTestDatabase, type TestDatabase } from '../adapters/postgres/database.ts'
import { payeeMacs } from '../payee-macs.ts'

const TOKENS = 40
const DAYS = 20

let app: TestDatabase
const partner = { id: randomUUID(), name: 'acme' } as Partner
beforeAll(async () => {
  app = await openTestDatabase()
  const { query } = app.database
  await query(
    `insert into partner_days (partner_id, day, asset_id, event, credited, debited, bookings)
     select $1, date '2026-11-01' + d, '0x' || n || '@base', 'swap fee final', 1500, 0, 1
     from generate_series(1, $2::int) n, generate_series(1, $3::int) d`,
    [partner.id, TOKENS, DAYS],
  )
  // Another swap paid in the first token, which has three decimals.
  await query(
    `insert into swaps (id, partner_id, network, hash, status, token_in, decimals_in, units_in, token_out, decimals_out, expected_units,
       min_units, received_units, sender, recipient, fee_ppm, fee_to, owes_fee, fee_asset, fee_units, fee_bookings, expires_by, block_height, block_hash)
     values (gen_random_uuid(), $1, 'base', 'h', 'finished', 'a', 18, 1, '0x1', 3, 1, 1, 1, 's', 'r', 1, 'f', true, '0x1@base', 1, 1, 'never', 1, 'h')`,
    [partner.id],
  )
})
afterAll(() => app.close())

test('a statement in many tokens that are not listed reads their decimals at once', async () => {
  let queries = 0
  const database: Database = {
    ...app.database,
    query: (text, values, name) => {
      queries += 1
      return app.database.query(text, values, name)
    },
  }
  const catalogue = { list: () => [] } as unknown as Parameters<typeof createOwnAccount>[0]['catalogue']
  const account = createOwnAccount({ store: createStore(database, payeeMacs), catalogue, database })
  const rows = await account.statement(partner, '2026-11-01', '2026-11-30')
  expect(rows).toHaveLength(TOKENS * DAYS)
  expect(rows.find(({ currency }) => currency === '0x1')).toMatchObject({ network: 'base', credited: '1.5' })
  expect(rows.find(({ currency }) => currency === '0x2')).toMatchObject({ credited: '1500' })
  expect(queries).toBe(2)
})
