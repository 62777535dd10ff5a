import { afterAll, beforeAll, expect, test } from 'vitest'
import { networks } from '../../networks/index.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import { btc, eth } from '../../src/exchange/domain/pricing.fixture.ts'
import { seedAdminRows } from '../adapters/postgres/seed-admin-rows.ts'
import { type AdminServer, type Caller, openAdminServer, rowsOf } from './admin-server.ts'

const ROWS = 1_100

let server: AdminServer
let caller: Caller
beforeAll(async () => {
  server = await openAdminServer({ live: { networks: networks.map((one) => resolveNetwork(one, 'production')) } })
  await seedAdminRows(server.test.database, ROWS)
  caller = await server.logIn(await server.addOperator('ada@example.com', 'viewer'))
})
afterAll(() => server.close())

test('the overview has the exchanges of each hour since 24 hours ago, also of hours without one', async () => {
  const { body } = await caller.get('overview')
  const hours = body['hours'] as readonly { at: string; created: number; finished: number }[]
  expect(hours).toHaveLength(25)
  for (const [n, { at }] of hours.entries()) expect(Date.parse(at)).toBe(Date.parse(hours[0]?.at ?? '') + n * 3_600_000)
  const stored = await server.test.database.query<{ at: Date; created: number; finished: number }>(
    `select to_timestamp(floor(extract(epoch from created_at) / 3600) * 3600) as at, count(*)::int as created,
       count(*) filter (where status = 'finished')::int as finished from exchanges group by 1 order by 1`,
  )
  expect(hours.filter(({ created }) => created > 0)).toEqual(
    stored.map(({ at, ...counts }) => ({ at: at.toISOString(), ...counts })),
  )
  expect(body).toMatchObject({ created24h: ROWS, finished24h: stored.reduce((sum, { finished }) => sum + finished, 0) })
})

test('the details of an exchange have amounts in coins, and addresses and transactions with their pages at the explorer of their network', async () => {
  const [target] = await server.test.database.query<{ id: string }>(
    "select exchange_id as id from deposit_targets where address = 'address-7'",
  )
  const { body } = await caller.get(`exchanges/story?id=${target?.id}`)
  expect(body['addresses']).toMatchObject([
    { kind: 'deposit', network: 'btc', address: 'address-7', url: 'https://mempool.space/address/address-7' },
    { kind: 'recipient', address: 'recipient-7' },
    { address: 'refund-7' },
  ])
  expect(body['orders']).toMatchObject([
    { id: 'order-7', venue: 'inventory', giveAmount: '0.00000005', takeAmount: '0.000000000000000007' },
  ])
  expect(body['transfers']).toMatchObject([
    {
      ...{ what: 'execution', currency: 'btc@btc', amount: '0.00000005' },
      links: [{ hash: 'deposit-7', url: 'https://mempool.space/tx/deposit-7' }],
    },
    {
      ...{ what: 'payout', currency: 'eth@eth', amount: '0.000000000000000001' },
      links: [{ hash: 'payout-7', url: 'https://etherscan.io/tx/payout-7' }],
    },
  ])
})

test('the details of an exchange have the rate of the quote, its fees if the rate is fixed, and the intermediary of a private exchange', async () => {
  const { query } = server.test.database
  const [row] = await query<{ id: string }>("select exchange_id as id from deposit_targets where address = 'address-9'")
  const read = async () => (await caller.get(`exchanges/story?id=${row?.id}`)).body['exchange']
  // 1 satoshi for 10.
  expect(await read()).toMatchObject({ rate: '0.1', quotedFees: null, via: null })
  await query(
    'update exchanges set quoted_gross_units = 10, quoted_network_units = 2, partner_fee_bps = 2500 where id = $1',
    [row?.id],
  )
  await query('alter table exchanges disable trigger user')
  await query('update exchanges set legs = $2 where id = $1', [
    row?.id,
    JSON.stringify([
      { from: btc.asset, to: eth.asset },
      { from: eth.asset, to: btc.asset },
    ]),
  ])
  await query('alter table exchanges enable trigger user')
  expect(await read()).toMatchObject({
    ...{ rate: '0.1', via: 'eth@eth' },
    // The partner has a quarter of 4, which are the amount, the fee of the network and its own.
    quotedFees: { service: '0.00000006', partner: '0.00000001', network: '0.00000002' },
  })
})

test('held deposits and payouts link to the explorer', async () => {
  const [held] = rowsOf(await caller.get('held'))
  expect(held).toMatchObject({ network: 'btc', txUrl: `https://mempool.space/tx/${held?.['txHash']}` })
  const [payout] = rowsOf(await caller.get('payouts?state=confirmed'))
  const [hash] = (payout?.['txHashes'] ?? []) as readonly string[]
  expect(payout).toMatchObject({
    addressUrl: 'https://etherscan.io/address/r',
    links: [{ hash, url: `https://etherscan.io/tx/${hash}` }],
  })
})

test('a session says whether its operator has a second factor', async () => {
  expect((await caller.get('session')).body).toMatchObject({ hasSecondFactor: true })
})

test('a swap is found by its hash in upper case, and with its other filters', async () => {
  const count = async (query: string) => rowsOf(await caller.get(`swaps?hash=SWAP-1000&${query}`)).length
  expect(await count('')).toBe(1)
  expect(await count('status=finished&partner=acme')).toBe(1)
  expect(await count('status=failed')).toBe(0)
  expect(await count('partner=others')).toBe(0)
})

test('a report refuses a cursor that no page of it had, and continues after one without a group', async () => {
  const read = (place: string) =>
    caller.get(`reports/costs?from=2026-11-01&to=2026-11-02&cursor=${Buffer.from(place).toString('base64url')}`)
  for (const place of ['no asset', 'eth@eth\n\0'])
    expect((await read(place)).body).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/cursor/),
    })
  expect((await read('eth@eth')).body).toEqual({ data: [], next: null })
})
