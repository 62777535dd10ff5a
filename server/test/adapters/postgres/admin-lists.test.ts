import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAdminLists } from '../../../src/adapters/postgres/admin/lists.ts'
import { EXAMINED_MAX } from '../../../src/adapters/postgres/admin/read-range.ts'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import type { AdminLists, Rows } from '../../../src/admin/ports/lists.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { countRowsRead, type Recorded } from './rows-read.ts'
import { OWED_PARTNER, seedAccountRows } from './seed-account-rows.ts'
import { seedAdminRows, seededWebhook } from './seed-admin-rows.ts'
import { LARGE_PARTNER, LARGE_UNITS, OF_BOTH, OLD_CURRENCY, seedCombinations } from './seed-combinations.ts'

/** Enough for a read of a whole table to be many times a page. */
const ROWS = 20_000
const LIMIT = 50
/** Rows that a page may read: those of the page, of their joins, and of a few parts of a union. */
const READ_MAX = 20 * LIMIT
/** More than two reads of what one page examines, so that reading all of them is seen. */
const LARGE = 2 * EXAMINED_MAX + 2 * READ_MAX

/** Partners, and tokens of fees. */
const ACCOUNTS = 5_000

let test_: TestDatabase
let owedId = ''
let queries: Recorded[] = []
let lists: AdminLists
beforeAll(async () => {
  test_ = await openTestDatabase()
  await seedAdminRows(test_.database, ROWS)
  await seedCombinations(test_.database, { large: LARGE, others: 4 * READ_MAX })
  await seedAccountRows(test_.database, ACCOUNTS)
  const [owed] = await test_.database.query<{ id: string }>('select id from partners where name = $1', [OWED_PARTNER])
  owedId = owed?.id ?? ''
  const recording: Database = {
    ...test_.database,
    query: (text, values, name) => {
      queries.push({ text, values: values ?? [] })
      return test_.database.query(text, values, name)
    },
  }
  lists = createAdminLists(recording)
})
afterAll(() => test_.close())

async function countRead(read: () => Promise<unknown>): Promise<number> {
  queries = []
  await read()
  return countRowsRead(test_.database, queries)
}

type Page = (cursor: string | null) => Promise<Rows>
const noFilter = { find: null, status: null, partner: null, from: null }
const from = { currency: 'btc', network: 'btc', units: null }
const old = { ...OLD_CURRENCY, units: null }
const noSwapFilter = { status: null, hashes: null, partner: null }

const pages: readonly (readonly [name: string, page: (cursor: string | null) => Promise<Rows>])[] = [
  ['exchanges', (cursor) => lists.exchanges(noFilter, { cursor, limit: LIMIT })],
  ...(['finished', 'pending', 'verifying', 'refunded'] as const).map(
    (status) =>
      [
        `exchanges in ${status}`,
        (cursor: string | null) => lists.exchanges({ ...noFilter, status }, { cursor, limit: LIMIT }),
      ] as const,
  ),
  ['exchanges of a partner', (cursor) => lists.exchanges({ ...noFilter, partner: 'acme' }, { cursor, limit: LIMIT })],
  [
    'exchanges of an amount',
    (cursor) => lists.exchanges({ ...noFilter, from: { ...from, units: 7n } }, { cursor, limit: LIMIT }),
  ],
  [
    'exchanges of an amount that many deposits have',
    (cursor) => lists.exchanges({ ...noFilter, from: { ...from, units: 5n } }, { cursor, limit: LIMIT }),
  ],
  ['held deposits', (cursor) => lists.held({ cursor, limit: LIMIT })],
  ['payouts', (cursor) => lists.payouts({ state: null, isHeld: false }, { cursor, limit: LIMIT })],
  ['reserved payouts', (cursor) => lists.payouts({ state: 'reserved', isHeld: false }, { cursor, limit: LIMIT })],
  ['held payouts', (cursor) => lists.payouts({ state: null, isHeld: true }, { cursor, limit: LIMIT })],
  ['the queue of payouts', (cursor) => lists.queue('eth', { cursor, limit: LIMIT })],
  ['partners', (cursor) => lists.partners(null, { cursor, limit: LIMIT })],
  ['balances of a partner', (cursor) => lists.balances(owedId, { cursor, limit: LIMIT })],
  ['held swap fees', (cursor) => lists.swapFees({ cursor, limit: LIMIT })],
  ['swap fees without a known partner', (cursor) => lists.unclaimedFees({ cursor, limit: LIMIT })],
  ['unclaimed deposits', (cursor) => lists.unclaimed({ cursor, limit: LIMIT })],
  ['swaps', (cursor) => lists.swaps(noSwapFilter, { cursor, limit: LIMIT })],
  ['failed swaps', (cursor) => lists.swaps({ ...noSwapFilter, status: 'failed' }, { cursor, limit: LIMIT })],
  ['swaps of a partner', (cursor) => lists.swaps({ ...noSwapFilter, partner: 'acme' }, { cursor, limit: LIMIT })],
  ['webhooks', (cursor) => lists.webhooks({ partner: null }, { cursor, limit: LIMIT })],
  ['webhooks of a partner', (cursor) => lists.webhooks({ partner: 'acme' }, { cursor, limit: LIMIT })],
  ['deliveries of a webhook', (cursor) => lists.webhookDeliveries(seededWebhook, { cursor, limit: LIMIT })],
  ['the audit log', (cursor) => lists.audit({ subject: null, actor: null }, { cursor, limit: LIMIT })],
  ['acts of one actor', (cursor) => lists.audit({ subject: null, actor: 'operator:rare' }, { cursor, limit: LIMIT })],
  ['acts about a subject', (cursor) => lists.audit({ subject: 'rare', actor: null }, { cursor, limit: LIMIT })],
]

/** Filters together, each of them with many rows. */
const combinations: typeof pages = [
  [
    'exchanges of a large partner in a status that none of them has',
    (cursor) => lists.exchanges({ ...noFilter, partner: LARGE_PARTNER, status: 'failed' }, { cursor, limit: LIMIT }),
  ],
  [
    'exchanges of a large partner in the status of all of them',
    (cursor) => lists.exchanges({ ...noFilter, partner: LARGE_PARTNER, status: 'finished' }, { cursor, limit: LIMIT }),
  ],
  ['exchanges of an old currency', (cursor) => lists.exchanges({ ...noFilter, from: old }, { cursor, limit: LIMIT })],
  [
    'exchanges of an old currency in a status that none of them has',
    (cursor) => lists.exchanges({ ...noFilter, from: old, status: 'failed' }, { cursor, limit: LIMIT }),
  ],
  [
    'exchanges of a partner in a currency that all of them have',
    (cursor) => lists.exchanges({ ...noFilter, partner: 'acme', from }, { cursor, limit: LIMIT }),
  ],
  [
    'swaps of a large partner in a status that none of them has',
    (cursor) => lists.swaps({ ...noSwapFilter, partner: LARGE_PARTNER, status: 'failed' }, { cursor, limit: LIMIT }),
  ],
  [
    'acts of an actor about a subject of others',
    (cursor) => lists.audit({ actor: 'a-busy-actor', subject: 'a-busy-subject' }, { cursor, limit: LIMIT }),
  ],
]

test.each([...pages, ...combinations])(
  'a page of %s reads about a page, the first and a later one',
  async (_name, page: Page) => {
    const { next } = await page(null)
    expect(await countRead(() => page(null))).toBeLessThan(READ_MAX)
    if (next !== null) expect(await countRead(() => page(next))).toBeLessThan(READ_MAX)
  },
)

/** No index has these filters together. */
const examined: typeof pages = [
  [
    'exchanges of a large partner in an old currency',
    (cursor) => lists.exchanges({ ...noFilter, partner: LARGE_PARTNER, from: old }, { cursor, limit: LIMIT }),
  ],
  [
    'failed exchanges of a partner and an amount',
    (cursor) =>
      lists.exchanges(
        { ...noFilter, partner: 'acme', status: 'failed', from: { ...from, units: LARGE_UNITS } },
        { cursor, limit: LIMIT },
      ),
  ],
]

test.each(examined)('a page of %s examines a bounded number of rows, and leads to the rest', async (_name, page) => {
  const { data, next } = await page(null)
  expect(data).toEqual([])
  expect(next).not.toBeNull()
  // Once for the place where the page stops, and once for its rows.
  for (const cursor of [null, next]) {
    const read = await countRead(() => page(cursor))
    expect(read).toBeGreaterThan(EXAMINED_MAX)
    expect(read).toBeLessThan(2 * EXAMINED_MAX + READ_MAX)
  }
})

async function listAll(filter: Parameters<AdminLists['exchanges']>[0], limit: number) {
  const pages: Rows[] = []
  let cursor: string | null = null
  do {
    const page: Rows = await lists.exchanges(filter, { cursor, limit })
    pages.push(page)
    cursor = page.next
  } while (cursor !== null)
  return { pages: pages.length, ids: pages.flatMap(({ data }) => data.map(({ id }) => id)) }
}

test('pages behind those without a row have what matches, once and in order', async () => {
  const idsOf = async (where: string) =>
    (
      await test_.database.query<{ id: string }>(
        `select id from exchanges where ${where} order by created_at desc, id desc`,
      )
    ).map(({ id }) => id)
  const ofLarge = `partner_id = (select id from partners where name = '${LARGE_PARTNER}')`
  const ofBoth = await listAll({ ...noFilter, partner: LARGE_PARTNER, from: old }, 2)
  expect(ofBoth.ids).toHaveLength(OF_BOTH)
  expect(ofBoth.ids).toEqual(await idsOf(`${ofLarge} and from_currency = 'ltc'`))
  // Its rows end in the third part; the page of two rows is full before its end.
  expect(ofBoth.pages).toBe(4)
  const ofAmount = { ...noFilter, status: 'failed', from: { ...from, units: LARGE_UNITS } }
  expect((await listAll(ofAmount, 500)).ids).toEqual(await idsOf(`from_units = ${LARGE_UNITS} and status = 'failed'`))
  expect((await listAll({ ...noFilter, partner: 'acme', status: 'finished' }, 7)).ids).toEqual(
    await idsOf("partner_id = (select id from partners where name = 'acme') and status = 'finished'"),
  )
  expect((await listAll({ ...noFilter, from: old, status: 'finished' }, 500)).ids).toEqual(
    await idsOf("from_currency = 'ltc' and status = 'finished'"),
  )
})

test('a search has only what its filters permit', async () => {
  const page = { cursor: null, limit: LIMIT }
  const count = async (find: string, filter: object) =>
    (await lists.exchanges({ ...noFilter, find: [find], ...filter }, page)).data.length
  const [target] = await test_.database.query<{ id: string; status: string; units: string }>(
    "select id, status, from_units as units from exchanges where external_id = 'own-700'",
  )
  expect(target).toMatchObject({ status: 'finished', units: '701' })
  for (const [filter, other] of [
    [{ status: 'finished' }, { status: 'failed' }],
    [{ partner: 'acme' }, { partner: LARGE_PARTNER }],
    [{ from }, { from: old }],
    [{ from: { ...from, units: 701n } }, { from: { ...from, units: 702n } }],
    // The amount of its deposit.
    [{ from: { ...from, units: 5n } }, { from: { ...old, units: 5n } }],
  ]) {
    expect([filter, await count('own-700', filter ?? {})]).toEqual([filter, 1])
    expect([other, await count('own-700', other ?? {})]).toEqual([other, 0])
  }
  // Of the newest thousand of this refund address: without filters it shows a hundred.
  expect(await count('refund-shared', { from: { ...from, units: 501n } })).toBe(2)
})

test('held payouts of a state are those of both', async () => {
  const page = { cursor: null, limit: LIMIT }
  const states = async (state: string | null) =>
    new Set((await lists.payouts({ state, isHeld: true }, page)).data.map((payout) => payout['state']))
  expect(await states(null)).toEqual(new Set(['reserved']))
  expect(await states('reserved')).toEqual(new Set(['reserved']))
  expect(await states('confirmed')).toEqual(new Set())
})

test('a search, the details of an exchange and the counts read few rows', async () => {
  const [row] = (await lists.exchanges(noFilter, { cursor: null, limit: 1 })).data
  const id = String(row?.['id'])
  const reads: readonly (() => Promise<unknown>)[] = [
    () => lists.exchanges({ ...noFilter, find: [id] }, { cursor: null, limit: LIMIT }),
    () => lists.exchanges({ ...noFilter, find: ['address-7'] }, { cursor: null, limit: LIMIT }),
    () => lists.exchanges({ ...noFilter, find: ['recipient-7'] }, { cursor: null, limit: LIMIT }),
    () => lists.exchanges({ ...noFilter, find: ['refund-7'] }, { cursor: null, limit: LIMIT }),
    // Half of all exchanges.
    () => lists.exchanges({ ...noFilter, find: ['refund-shared'] }, { cursor: null, limit: LIMIT }),
    () => lists.exchanges({ ...noFilter, find: ['own-7'] }, { cursor: null, limit: LIMIT }),
    () => lists.swaps({ ...noSwapFilter, hashes: ['swap-7'] }, { cursor: null, limit: LIMIT }),
    () => lists.exchangeDetails(id),
  ]
  for (const read of reads)
    expect([String(read), await countRead(read)]).toEqual([String(read), expect.toSatisfy((n: number) => n < READ_MAX)])
  // Each count stops at a thousand.
  expect(await countRead(() => lists.waiting())).toBeLessThan(5_000)
})

test('the search finds an exchange by its ids, addresses and hashes', async () => {
  const find = async (text: string) =>
    (await lists.exchanges({ ...noFilter, find: [text] }, { cursor: null, limit: LIMIT })).data.map(
      ({ id, foundBy }) => `${id} ${foundBy}`,
    )
  const [target] = await test_.database.query<{ id: string }>(
    "select exchange_id as id from deposit_targets where address = 'address-7'",
  )
  expect(await find(target?.id ?? '')).toEqual([`${target?.id} id`])
  expect(await find('address-7')).toEqual([`${target?.id} deposit address`])
  expect(await find('recipient-7')).toEqual([`${target?.id} recipient`])
  expect(await find('refund-7')).toEqual([`${target?.id} refund address`])
  expect(await find('own-7')).toEqual([`${target?.id} external id`])
  expect(await find('refund-shared')).toHaveLength(100)
  // A partner may use the form of our own ids.
  const own = '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11'
  await test_.database.query('update exchanges set external_id = $1 where id = $2', [own, target?.id])
  expect(await find(own)).toEqual([`${target?.id} external id`])
  expect(await find('deposit-7')).toEqual([`${target?.id} deposit`])
  expect(await find('payout-7')).toEqual([`${target?.id} payout`])
  expect(await find('nothing')).toEqual([])
})

test('the search by an amount finds exchanges that ordered it or received it, in pages that have each once', async () => {
  const search = async (units: bigint, limit = LIMIT) => {
    const found: string[] = []
    let cursor: string | null = null
    do {
      const page: Rows = await lists.exchanges({ ...noFilter, from: { ...from, units } }, { cursor, limit })
      found.push(...page.data.map(({ id, foundBy }) => `${id} ${foundBy}`))
      cursor = page.next
    } while (cursor !== null)
    return found
  }
  const read = async (sql: string) => (await test_.database.query<{ row: string }>(sql)).map(({ row }) => row)
  expect(await search(777_777n)).toEqual(
    await read("select exchange_id || ' received amount' as row from deposits where units = 777777"),
  )
  expect(await search(7n)).toEqual(
    await read(
      "select id || ' ordered amount' as row from exchanges where from_units = 7 order by created_at desc, id desc",
    ),
  )
  // All deposits have this amount but one: 20 exchanges ordered it, and the newest 200 deposits are looked at.
  const both = await search(5n, 7)
  expect(new Set(both.map((row) => row.split(' ')[0])).size).toBe(both.length)
  expect(both.filter((row) => row.endsWith('ordered amount'))).toHaveLength(20)
  expect(both).toEqual(
    await read(
      `select e.id || case when e.from_units = 5 then ' ordered amount' else ' received amount' end as row from exchanges e
       where e.from_units = 5 or e.id in (select exchange_id from deposits where units = 5 order by id desc limit 200)
       order by e.created_at desc, e.id desc`,
    ),
  )
})

test('pages have every row once, also of rows of the same time', async () => {
  const seen: unknown[] = []
  let cursor: string | null = null
  do {
    const page: Rows = await lists.exchanges({ ...noFilter, status: 'pending' }, { cursor, limit: 7 })
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.next
  } while (cursor !== null)
  const rows = await test_.database.query<{ id: string }>(
    "select id from exchanges where status = 'pending' order by created_at desc, id desc",
  )
  expect(rows.length).toBeGreaterThan(20)
  expect(seen).toEqual(rows.map(({ id }) => id))
})

async function readAll(page: Page, key: (row: Rows['data'][number]) => unknown): Promise<unknown[]> {
  const seen: unknown[] = []
  let cursor: string | null = null
  do {
    const found: Rows = await page(cursor)
    seen.push(...found.data.map(key))
    cursor = found.next
  } while (cursor !== null)
  return seen
}

test('pages of the queue have the order of payment, also of payouts that wait until the same time', async () => {
  await test_.database.query('alter table payouts disable trigger user')
  await test_.database.query(
    `update payouts set held_until = date_trunc('second', now()) + interval '1 hour' where id in (select id from payouts
       where state = 'reserved' and attention is null order by id limit 10)`,
  )
  await test_.database.query('alter table payouts enable trigger user')
  const rows = await test_.database.query<{ id: string }>(
    `select id from payouts where network = 'eth' and state = 'reserved' and attention is null
     order by coalesce(held_until, created_at), created_at, id`,
  )
  expect(rows.length).toBeGreaterThan(15)
  expect(
    await readAll(
      (cursor) => lists.queue('eth', { cursor, limit: 3 }),
      ({ id }) => id,
    ),
  ).toEqual(rows.map(({ id }) => id))
})

test('pages of partners, balances and fees have every row once', async () => {
  const limit = 499
  const names = await readAll(
    (cursor) => lists.partners(null, { cursor, limit }),
    ({ name }) => name,
  )
  const [count] = await test_.database.query<{ count: number }>('select count(*)::int as count from partners')
  expect([new Set(names).size, names.length]).toEqual([count?.count, count?.count])
  for (const page of [
    (cursor: string | null) => lists.balances(owedId, { cursor, limit }),
    (cursor: string | null) => lists.swapFees({ cursor, limit }),
    (cursor: string | null) => lists.unclaimedFees({ cursor, limit }),
  ]) {
    const rows = await readAll(page, (row) => JSON.stringify(row))
    expect([String(page), new Set(rows).size, rows.length]).toEqual([String(page), ACCOUNTS, ACCOUNTS])
  }
})

test('a swap fee whose swap is known by now, and a balance of zero, are not listed', async () => {
  const page = { cursor: null, limit: 1 }
  const [newest] = (await lists.unclaimedFees(page)).data
  expect(newest).toMatchObject({ hash: `unclaimed-${ACCOUNTS}`, units: '7', height: ACCOUNTS })
  await test_.database.query("update unclaimed_fees set hash = 'swap-7' where hash = $1", [newest?.['hash']])
  expect((await lists.unclaimedFees(page)).data).toMatchObject([{ hash: `unclaimed-${ACCOUNTS - 1}` }])
  const first = { address: '0x0', currency: '0x00000003@base' }
  expect((await lists.swapFees(page)).data).toEqual([{ ...first, amount: '3' }])
  await test_.database.query('alter table balances disable trigger user')
  await test_.database.query("update balances set units = 0 where asset_id = $1 and account = 'asset:fees:0x0'", [
    first.currency,
  ])
  await test_.database.query('alter table balances enable trigger user')
  expect((await lists.swapFees(page)).data).toMatchObject([{ address: '0x0', currency: '0x00000006@base' }])
})

test('a webhook is listed with what waits for it and the error of its next deliveries', async () => {
  const { data } = await lists.webhooks({ partner: 'acme' }, { cursor: null, limit: LIMIT })
  expect(data.find(({ id }) => id === seededWebhook)).toMatchObject({
    ...{ partner: 'acme', url: 'https://partner.example/', disabledBy: null, waiting: 30, lastError: 'status 500' },
  })
  const page = await lists.webhookDeliveries(seededWebhook, { cursor: null, limit: 2 })
  const second = await lists.webhookDeliveries(seededWebhook, { cursor: page.next, limit: 2 })
  const ids = [...page.data, ...second.data].map(({ id }) => Number(id))
  expect(ids).toEqual([0, 1, 2, 3].map((n) => (ids[0] ?? 0) - n))
})
