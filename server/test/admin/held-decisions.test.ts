import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { seedAdminRows } from '../adapters/postgres/seed-admin-rows.ts'
import { type AdminServer, type Caller, openAdminServer } from './admin-server.ts'

let server: AdminServer
let treasurer: Caller
beforeAll(async () => {
  server = await openAdminServer()
  await seedAdminRows(server.test.database, 10)
  treasurer = await server.logIn(await server.addOperator('ada@example.com', 'treasurer'))
})
afterAll(() => server.close())

// The seeded transactions are signed and live: a refund would pay a second time.
test('B168: an exchange whose payout is signed cannot be refunded, released or failed by anyone', async () => {
  const { query } = server.test.database
  // The seeded rows have ended; here, one is on its way.
  for (const table of ['executions', 'transactions']) await query(`alter table ${table} disable trigger user`)
  const [row] = await query<{ id: string }>(
    "update executions set status = 'sending' where id = (select id from executions limit 1) returning exchange_id as id",
  )
  const { id } = present(row, 'a seeded exchange')
  await query("update exchanges set status = 'sending' where id = $1", [id])
  await query("update transactions set state = 'live'")
  for (const act of ['refund', 'release', 'convert', 'fail'])
    for (const preview of [true, false]) {
      const answer = await treasurer.post(`exchanges/${act}`, {
        exchangeId: id,
        reason: 'the customer asks for it',
        preview,
      })
      expect([act, preview, answer.status, answer.body['code']]).toEqual([act, preview, 409, 'NOT_DECIDABLE'])
    }
  expect(await query('select 1 from operator_requests')).toEqual([])
  expect(
    await query("select 1 from operator_acts where act like 'exchange %' and reason = 'the customer asks for it'"),
  ).toEqual([])
})
