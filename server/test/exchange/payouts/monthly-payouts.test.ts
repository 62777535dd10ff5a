import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPayMonthly, type PayMonthlyDeps } from '../../../src/exchange/operations/pay-monthly.ts'
import type { MonthlyPayoutStore } from '../../../src/exchange/ports/store/monthly-payouts.ts'
import type { Store } from '../../../src/exchange/ports/store/store.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let settings: MonthlyPayoutStore
/** A partner of its own for each test: the payout of a month is made once. */
let partner: Readonly<{ id: string; name: string; address: string }>
let partners = 0
beforeAll(async () => {
  fixture = await startMoneyPath()
  settings = fixture.store.monthlyPayouts
  await fixture.fundWallets({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
beforeEach(async () => {
  const n = ++partners
  partner = { id: randomUUID(), name: `partner ${n}`, address: `monthly-${n}` }
  await fixture.database.query('insert into partners (id, name) values ($1, $2)', [partner.id, partner.name])
  await fixture.database.query(
    "insert into default_recipients (partner_id, asset_id, address) values ($1, 'eth@eth', $2)",
    [partner.id, partner.address],
  )
})
afterEach(() => fixture.expectBalanced())

/** Finishes an exchange without a recipient, which credits the partner. Returns what we owe. */
async function earn(): Promise<bigint> {
  fixture.payDeposit(await fixture.createExchange({ recipient: null, partnerId: partner.id }), SMALL)
  await fixture.mineBlocks(3)
  return readOwed()
}
const readOwed = async () => -(await fixture.store.ledger.balance(`liability:partner:${partner.id}`, 'eth@eth'))
async function received(): Promise<bigint[]> {
  await fixture.mineBlocks(5)
  return fixture.fakes.eth.listPayments(partner.address).map(({ units }) => units)
}
const listAlarms = async () => (await fixture.store.alarms.list(100)).map(({ subject }) => subject)
const set = (minimum: bigint | null) => settings.set(partner.name, 'eth@eth', minimum)

const payMonthly = (changes: Partial<PayMonthlyDeps> = {}) =>
  createPayMonthly({
    store: fixture.store,
    networkOf: () => 'eth',
    screening: { screen: async () => 'allow' },
    isOwnAddress: async () => false,
    ...changes,
  })()

/** A process that is killed at a call of the store: what it committed before stays. */
const killedAt = (method: 'listUnpaid' | 'setPaid'): Store => ({
  ...fixture.store,
  monthlyPayouts: { ...settings, [method]: () => Promise.reject(new Error('the process was killed')) },
})

test('are paid once a month to the recipient, whatever crashes', async () => {
  await set(1n)
  const owed = await earn()
  expect(owed).toBeGreaterThan(0n)
  // After the intent, and after the payout was queued.
  await expect(payMonthly({ store: killedAt('listUnpaid') })).rejects.toThrow('killed')
  expect(await readOwed()).toBe(owed)
  await expect(payMonthly({ store: killedAt('setPaid') })).rejects.toThrow('killed')
  expect(await readOwed()).toBe(0n)
  await Promise.all(Array.from({ length: 5 }, () => payMonthly()))
  expect(await received()).toEqual([owed])
  // What is earned later in the month waits for the next one.
  const later = await earn()
  await payMonthly()
  expect([await received(), await readOwed()]).toEqual([[owed], later])
})

test('concurrent workers make one payout', async () => {
  await set(1n)
  const owed = await earn()
  await Promise.all(Array.from({ length: 8 }, () => payMonthly()))
  expect(await received()).toEqual([owed])
})

test('the payout of the month before does not count for this month', async () => {
  await set(1n)
  const owed = await earn()
  await fixture.database.query(
    `insert into monthly_payouts (partner_id, month, asset_id, units, address, memo, payout_id)
     select $1, (date_trunc('month', now() at time zone 'utc') - interval '1 month')::date, 'eth@eth', 1, 'before', '', $2`,
    [partner.id, randomUUID()],
  )
  await payMonthly()
  expect(await received()).toEqual([owed])
})

test('a balance below the minimum, a suspended partner and an ended setting are not paid', async () => {
  const owed = await earn()
  await set(owed + 1n)
  await payMonthly()
  await set(owed)
  await fixture.database.query('update partners set suspended = true where id = $1', [partner.id])
  await payMonthly()
  await fixture.database.query('update partners set suspended = false where id = $1', [partner.id])
  expect(await set(null)).toBe(true)
  await payMonthly()
  expect(await readOwed()).toBe(owed)
  await set(owed)
  await payMonthly()
  expect(await received()).toEqual([owed])
})

test('a setting needs a recipient of its currency', async () => {
  expect(await settings.set(partner.name, 'btc@btc', 1n)).toBe(false)
  expect(await settings.set('unknown', 'eth@eth', 1n)).toBe(false)
  expect(await set(null)).toBe(false)
})

test('a recipient that may not be served any more gets nothing, with an alarm that ends with its cause', async () => {
  await set(1n)
  const owed = await earn()
  for (const refusal of [{ screening: { screen: async () => 'block' as const } }, { isOwnAddress: async () => true }]) {
    await payMonthly(refusal)
    expect([await readOwed(), await listAlarms()]).toEqual([owed, [`monthly-payout:${partner.name} eth@eth`]])
  }
  await payMonthly()
  expect([await listAlarms(), await received()]).toEqual([[], [owed]])
})

test('an intent that the balance does not cover any more is an alarm, and the next month pays the balance', async () => {
  await set(1n)
  const owed = await earn()
  await settings.plan()
  await fixture.database.query('update monthly_payouts set units = units + 1 where partner_id = $1', [partner.id])
  await payMonthly()
  expect([await readOwed(), await listAlarms()]).toEqual([owed, [`monthly-payout:${partner.name} eth@eth`]])
  await fixture.database.query(
    "update monthly_payouts set month = (month - interval '1 month')::date where partner_id = $1",
    [partner.id],
  )
  await payMonthly()
  expect([await received(), await readOwed(), await listAlarms()]).toEqual([[owed], 0n, []])
})
