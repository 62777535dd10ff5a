import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAdminLists } from '../../src/adapters/postgres/admin/lists.ts'
import { conversionEntry, depositEntry, depositReversalEntry } from '../../src/core/domain/ledger/entries.ts'
import { btc, eth } from '../../src/exchange/domain/pricing.fixture.ts'
import { countRowsRead, type Recorded } from '../adapters/postgres/rows-read.ts'
import { type AdminServer, openAdminServer } from './admin-server.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** More than many of the ranges that the index of times summarises. */
const OLD_ENTRIES = 200_000

const TABLES = ['exchanges', 'deposits', 'journal']
const partnerId = randomUUID()

let server: AdminServer
let started: number
let midnight: number
beforeAll(async () => {
  server = await openAdminServer()
  started = Date.now()
  midnight = Math.floor(started / DAY_MS) * DAY_MS
})
afterAll(() => server?.close())

const query = <Row extends object>(sql: string, values: readonly unknown[] = []) =>
  server.test.database.query<Row>(sql, values)

async function addExchange(fromUnits: bigint): Promise<string> {
  const id = randomUUID()
  await query(
    `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
       to_units, partner_fee_bps, expires_at)
     values ($1, $2, 'standard', 'standard', 'btc', 'btc', 'eth', 'eth', $3, $4, 1, 0, now())`,
    [id, partnerId, JSON.stringify([{ from: btc.asset, to: eth.asset }]), fromUnits],
  )
  return id
}

type Deposit = Readonly<{ assetId: 'btc@btc' | 'eth@eth'; units: bigint; leg?: number; agoMs: number }>

/** A credited deposit with its entry. */
async function addDeposit(exchangeId: string, { assetId, units, leg = 0, agoMs }: Deposit) {
  const network = assetId.slice(4)
  const [row] = await query<{ id: string }>(
    `insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height, block_hash,
       required_confirmations, status, credited_units, credits)
     values ($1, $2, $2, $3, $4, 'address', 1, $5, $6, 1, 'h', 2, 'credited', $6, 1) returning id`,
    [network, randomUUID(), exchangeId, leg, assetId, units],
  )
  const credit = { depositId: row?.id ?? '', credits: 1, exchangeId, assetId, units, location: 'wallet' } as const
  const entry = depositEntry(credit)
  await server.store.store.ledger.post(entry)
  await setTime(entry.id, started - agoMs)
  return credit
}

const setTime = (entryId: string, at: number) =>
  query('update journal set at = $2 where id = $1', [entryId, new Date(at)])

async function addConversion(exchangeId: string, units: bigint, spreadUnits: bigint, at: number): Promise<void> {
  const orderId = randomUUID()
  const entry = conversionEntry({
    ...{ orderId, exchangeId, partnerId, give: { assetId: 'btc@btc', units } },
    take: { assetId: 'eth@eth', dueUnits: 1n, spreadUnits, partnerUnits: 0n, networkUnits: 0n },
  })
  await server.store.store.ledger.post(entry)
  await setTime(entry.id, at)
}

test('the overview sums credited deposits of 24 hours and the spread of today, and has the oldest due step', async () => {
  // The rows need not follow from each other, and times lie in the past.
  for (const table of TABLES) await query(`alter table ${table} disable trigger user`)
  const paid = await addExchange(100_000_000n)
  const [waiting, late] = [await addExchange(700_000_000n), await addExchange(900_000_000n)]
  const reversed = await addExchange(300_000_000n)
  await addDeposit(paid, { assetId: 'btc@btc', units: 150_000_000n, agoMs: 23 * HOUR_MS })
  await addDeposit(paid, { assetId: 'btc@btc', units: 1n, agoMs: 0 })
  // A customer may send another currency, and a deposit of a later leg is our own payment.
  await addDeposit(paid, { assetId: 'eth@eth', units: 5n * 10n ** 17n, agoMs: HOUR_MS })
  await addDeposit(paid, { assetId: 'eth@eth', units: 10n ** 18n, leg: 1, agoMs: HOUR_MS })
  await addDeposit(late, { assetId: 'btc@btc', units: 900_000_000n, agoMs: 25 * HOUR_MS })
  const left = await addDeposit(reversed, { assetId: 'btc@btc', units: 300_000_000n, agoMs: HOUR_MS })
  await server.store.store.ledger.post(depositReversalEntry(left))
  await query("update deposits set status = 'reversed', credited_units = null where id = $1", [left.depositId])
  await addConversion(paid, 1n, 3n * 10n ** 16n, midnight)
  await addConversion(paid, 1n, 10n ** 15n, started)
  await addConversion(paid, 1n, 7n * 10n ** 17n, midnight - 1)
  for (const table of TABLES) await query(`alter table ${table} enable trigger user`)
  const oldest = new Date(started - 2 * HOUR_MS)
  for (const [id, at] of [
    [paid, new Date(started - HOUR_MS)],
    [waiting, oldest],
    [late, new Date(started + HOUR_MS)],
  ])
    await query('insert into exchange_checks (exchange_id, next_check_at) values ($1, $2)', [id, at])
  const caller = await server.logIn(await server.addOperator('ada@example.com', 'viewer'))
  expect((await caller.get('overview')).body).toMatchObject({
    ...{ created24h: 4, finished24h: 0, oldestStepAt: oldest.toISOString() },
  })
  const { volume24h, revenueToday } = (await caller.get('overview')).body
  expect([volume24h, revenueToday]).toEqual([{ 'btc@btc': '1.50000001', 'eth@eth': '0.5' }, { 'eth@eth': '0.031' }])
})

test('the sums of a day read few of the older entries of the ledger', async () => {
  await query('alter table journal disable trigger user')
  await query(
    `insert into journal (id, event, at) select 'deposit:-' || n || ':credit:1', 'deposit', now() - interval '9 days'
     from generate_series(1, $1::int) n`,
    [OLD_ENTRIES],
  )
  await query('alter table journal enable trigger user')
  await query("select brin_summarize_new_values('journal_by_time')")
  await query('analyze journal')
  const queries: Recorded[] = []
  const { database } = server.test
  const lists = createAdminLists({
    ...database,
    query: (text, values, name) => {
      queries.push({ text, values: values ?? [] })
      return database.query(text, values, name)
    },
  })
  const { volume } = await lists.lastDay()
  expect(volume).toHaveLength(2)
  expect(await countRowsRead(database, queries)).toBeLessThan(OLD_ENTRIES / 4)
})
