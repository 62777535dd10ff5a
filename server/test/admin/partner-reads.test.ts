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

test('shows the fee address that a partner set until it is in effect, also where the partner has none yet', async () => {
  const admin = await server.logIn(await server.addOperator('eve@example.com', 'admin'))
  expect((await admin.post('partners/add', { name: 'waits', reason: 'contract of May' })).status).toBe(201)
  const [old, next] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
  const [later, past] = [new Date(Date.now() + 3_600_000), new Date(Date.now() - 3_600_000)]
  for (const row of [
    ['base', null, later],
    ['bsc', old, past],
    ['eth', old, later],
  ])
    await server.test.database.query(
      `insert into fee_addresses (partner_id, network, address, next_address, next_from)
       select id, $1, $2, $4, $3 from partners where name = 'waits'`,
      [...row, next],
    )
  const waits = { address: next, from: later.toISOString() }
  const partner = rowsOf(await admin.get('partners')).find(({ name }) => name === 'waits')
  expect(partner?.['feeAddresses']).toEqual([
    { network: 'base', address: null, next: waits },
    { network: 'bsc', address: next, next: null },
    { network: 'eth', address: old, next: waits },
  ])
})

test('shows the monthly payouts of a partner in coins, and the name of a partner whose payouts are paused', async () => {
  const admin = await server.logIn(await server.addOperator('bob@example.com', 'admin'))
  const reason = 'contract of May'
  expect((await admin.post('partners/add', { name: 'monthly', reason })).status).toBe(201)
  const id = rowsOf(await admin.get('partners')).find((row) => row['name'] === 'monthly')?.['id']
  await server.test.database.query(
    "insert into default_recipients (partner_id, asset_id, address) values ($1, 'usdt@eth', '0x1'), ($1, 'btc@btc', 'bc1')",
    [id],
  )
  const read = async () => rowsOf(await admin.get('partners')).find((row) => row['id'] === id)?.['monthlyPayouts']
  expect(await read()).toEqual([])
  const set = { name: 'monthly', currency: 'usdt@eth', minimum: '50.5', convertOthers: true, reason }
  expect((await admin.post('partners/monthly-payout', set)).status).toBe(201)
  const terms = { currency: 'usdt@eth', minimum: '50.5', address: '0x1', memo: null, convertsOthers: true }
  expect(await read()).toEqual([terms])
  await admin.post('partners/monthly-payout', { ...set, minimum: 'none' })
  expect(await read()).toEqual([])
  expect((await admin.post('pauses/begin', { scope: 'partner:monthly', reason })).status).toBe(201)
  const pauses = () => admin.get('pauses')
  expect(rowsOf(await pauses())).toMatchObject([{ scope: `partner:${id}`, partner: 'monthly' }])
  await admin.post('pauses/end', { scope: `partner:${id}`, reason })
  await admin.post('pauses/begin', { scope: 'network:btc', reason })
  expect(rowsOf(await pauses())).toMatchObject([{ scope: 'network:btc', partner: null }])
})

test('lists partners by name in pages, without a largest number, and finds one by a part of its name or by its id', async () => {
  const admin = await server.logIn(await server.addOperator('carol@example.com', 'admin'))
  await server.test.database.query(
    "insert into partners (id, name) select gen_random_uuid(), 'Wallet ' || lpad(n::text, 4, '0') from generate_series(1, 1200) n",
  )
  const names: unknown[] = []
  let cursor: unknown = null
  do {
    const page = await admin.get(`partners?limit=500${cursor === null ? '' : `&cursor=${cursor}`}`)
    names.push(...rowsOf(page).map(({ name }) => name))
    cursor = page.body['next'] ?? null
  } while (cursor !== null)
  const all = await server.test.database.query<{ name: string }>('select name from partners order by name')
  expect(names).toEqual(all.map(({ name }) => name))
  const first = await admin.get('partners')
  expect(rowsOf(first)).toHaveLength(100)
  const find = async (text: string) => rowsOf(await admin.get(`partners?find=${encodeURIComponent(text)}`))
  const [found, ...others] = await find('WALLET 1150')
  expect([found?.['name'], others]).toEqual(['Wallet 1150', []])
  expect(await find(String(found?.['id']))).toEqual([found])
  expect(await find('%')).toEqual([])
  for (const wrong of ['1_2', 'AA', 'x='])
    expect((await admin.get(`partners?cursor=${wrong}`)).body).toMatchObject({
      ...{ code: 'VALIDATION_ERROR', errors: [{ field: 'cursor' }] },
    })
  // Behind the first thousand.
  const scope = `partner:${found?.['id']}`
  for (const named of ['partner:Wallet 1150', scope]) {
    const begun = await admin.post('pauses/begin', { scope: named, reason: 'its wallet was stolen' })
    expect([begun.status, begun.body['result']]).toMatchObject([201, { scope }])
  }
})
