import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'

let app: TestDatabase
let stores: readonly ReturnType<typeof createStore>[]
beforeAll(async () => {
  app = await openTestDatabase()
  stores = [createStore(app.database), createStore(app.another(10))]
  await store().wallets.registerHotAddress('eth', 'eth-hot', 0)
})
afterAll(() => app.close())

function store(n = 0): ReturnType<typeof createStore> {
  const one = stores[n % stores.length]
  if (!one) throw new Error('no store')
  return one
}
const LIMITS = { hour: 100n, day: 150n }
const payout = async () => {
  const id = randomUUID()
  await store().payouts.insert({
    id,
    exchangeId: null,
    executionId: null,
    depositId: null,
    leg: null,
    purpose: 'withdrawal',
    network: 'eth',
    assetId: 'eth@eth',
    from: 'hot',
    address: 'x',
    memo: null,
    units: 1n,
  })
  return id
}
const take = (id: string, scopes: readonly string[], usd: bigint, n = 0) =>
  store(n).transaction((tx) => tx.outflow.take(id, scopes, usd, LIMITS))
const older = (scope: string, time: string) =>
  app.database.query(`update outflows set at = at - interval '${time}' where scope = $1`, [scope])

describe('the rolling limits (I-24)', () => {
  test('let ten of twelve at once, in two processes, take a tenth each', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, payout))
    const outcomes = await Promise.all(ids.map((id, n) => take(id, ['race'], 10n, n)))
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome === 'hour')).toHaveLength(2)
  })

  test('roll: what left an hour ago counts for the day, and after a day not at all', async () => {
    expect(await take(await payout(), ['roll'], 100n)).toBeNull()
    expect(await take(await payout(), ['roll'], 1n)).toBe('hour')
    await older('roll', '61 minutes')
    expect(await take(await payout(), ['roll'], 51n)).toBe('day')
    expect(await take(await payout(), ['roll'], 50n)).toBeNull()
    await older('roll', '24 hours')
    expect(await take(await payout(), ['roll'], 100n)).toBeNull()
  })

  test('take of all scopes or of none', async () => {
    await take(await payout(), ['b-full'], 100n)
    expect(await take(await payout(), ['a-free', 'b-full'], 1n)).toBe('hour')
    expect(await app.database.query("select 1 from outflows where scope = 'a-free'")).toEqual([])
  })

  test('count a payout once, and when it is signed: one that waited is no old one', async () => {
    const id = await payout()
    expect(await take(id, ['wait'], 60n)).toBeNull()
    await older('wait', '2 hours')
    expect(await take(id, ['wait'], 60n)).toBeNull()
    expect(await take(await payout(), ['wait'], 60n)).toBe('hour')
    await store().outflow.release([id])
    expect(await take(await payout(), ['wait'], 60n)).toBeNull()
  })
})

describe('a pause (I-25)', () => {
  test('that is committed is seen by every signature that comes after, and waits for those before', async () => {
    const order: string[] = []
    const held = Promise.withResolvers<void>()
    const reading = Promise.withResolvers<void>()
    const signing = store().transaction(async (tx) => {
      expect(await tx.pauses.active(['all', 'payouts:eth'])).toEqual([])
      reading.resolve()
      await held.promise
      order.push('signed')
    })
    await reading.promise
    const pausing = store(1)
      .pauses.pause('payouts:eth', 'test', 'test')
      .then(() => order.push('paused'))
    const waiting = async () =>
      (await app.database.query("select 1 from pg_locks where locktype = 'advisory' and not granted")).length > 0
    while (!(await waiting()));
    held.resolve()
    await Promise.all([signing, pausing])
    expect(order).toEqual(['signed', 'paused'])
    expect(await store().transaction((tx) => tx.pauses.active(['all', 'payouts:eth']))).toEqual(['payouts:eth'])
    await store().pauses.resume('payouts:eth')
    expect(await store().transaction((tx) => tx.pauses.active(['payouts:eth']))).toEqual([])
  })
})
