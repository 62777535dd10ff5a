import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAdminLists } from '../../../src/adapters/postgres/admin/lists.ts'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import type { AdminLists, Rows } from '../../../src/admin/ports/lists.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { countRowsRead, type Recorded } from './rows-read.ts'
import { seedAdminRows, seededWebhook } from './seed-admin-rows.ts'

/** Enough for a read of a whole table to be many times a page. */
const ROWS = 20_000
const LIMIT = 50
/** Rows that a page may read: those of the page, of their joins, and of a few parts of a union. */
const READ_MAX = 20 * LIMIT

let test_: TestDatabase
let queries: Recorded[] = []
let lists: AdminLists
beforeAll(async () => {
  test_ = await openTestDatabase()
  await seedAdminRows(test_.database, ROWS)
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
  ['unclaimed deposits', (cursor) => lists.unclaimed({ cursor, limit: LIMIT })],
  ['swaps', (cursor) => lists.swaps({ status: null, hash: null, partner: null }, { cursor, limit: LIMIT })],
  ['failed swaps', (cursor) => lists.swaps({ status: 'failed', hash: null, partner: null }, { cursor, limit: LIMIT })],
  [
    'swaps of a partner',
    (cursor) => lists.swaps({ status: null, hash: null, partner: 'acme' }, { cursor, limit: LIMIT }),
  ],
  ['webhooks', (cursor) => lists.webhooks({ partner: null }, { cursor, limit: LIMIT })],
  ['webhooks of a partner', (cursor) => lists.webhooks({ partner: 'acme' }, { cursor, limit: LIMIT })],
  ['deliveries of a webhook', (cursor) => lists.webhookDeliveries(seededWebhook, { cursor, limit: LIMIT })],
  ['the audit log', (cursor) => lists.audit({ subject: null, actor: null }, { cursor, limit: LIMIT })],
  ['acts of one actor', (cursor) => lists.audit({ subject: null, actor: 'operator:rare' }, { cursor, limit: LIMIT })],
  ['acts about a subject', (cursor) => lists.audit({ subject: 'rare', actor: null }, { cursor, limit: LIMIT })],
]

test.each(pages)('a page of %s reads about a page, the first and a later one', async (_name, page: Page) => {
  const { next } = await page(null)
  expect(await countRead(() => page(null))).toBeLessThan(READ_MAX)
  if (next !== null) expect(await countRead(() => page(next))).toBeLessThan(READ_MAX)
})

test('a search, a story, the queue and the counts read few rows', async () => {
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
    () => lists.swaps({ status: null, hash: 'swap-7', partner: null }, { cursor: null, limit: LIMIT }),
    () => lists.story(id),
    () => lists.queue('eth', LIMIT),
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
