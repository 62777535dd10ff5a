import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, openAdminServer, rowsOf } from './admin-server.ts'

let server: AdminServer
beforeAll(async () => {
  server = await openAdminServer({ twoPersons: false })
})
afterAll(() => server?.close())

test('shows what was set for a partner: e-mail, refunds by link, and its own fee addresses alone', async () => {
  const admin = await server.logIn(await server.addOperator('ada@example.com', 'admin'))
  const reason = 'signed the contract'
  const of = (address: string) => ({ network: 'eth', address })
  const own = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
  const others = '0x00000000219ab540356cBB839Cbe05303d7705Fa'
  for (const [name, address] of [['acme', own] as const, ['beta', others] as const]) {
    expect((await admin.post('partners/add', { name, reason })).status).toBe(201)
    await server.test.database.query(
      "insert into fee_addresses (partner_id, network, address) select id, 'eth', $2 from partners where name = $1",
      [name, address],
    )
  }
  const set = { name: 'acme', email: 'ops@acme.example', refundByLink: false, reason }
  expect((await admin.post('partners/set', set)).status).toBe(201)
  expect(rowsOf(await admin.get('partners'))).toMatchObject([
    { name: 'acme', email: 'ops@acme.example', refundByLink: false, feeAddresses: [of(own)] },
    { name: 'beta', email: null, refundByLink: true, feeAddresses: [of(others)] },
  ])
})
