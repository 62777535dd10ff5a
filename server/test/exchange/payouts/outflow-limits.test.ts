import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'

let app: TestDatabase
let stores: readonly ReturnType<typeof createStore>[]
beforeAll(async () => {
  app = await openTestDatabase()
  stores = [createStore(app.database), createStore(app.another(10))]
  await getStore().wallets.registerHotAddress('eth', 'eth-hot', 0)
})
afterAll(() => app.close())

/** The store of the n-th process. */
function getStore(n = 0): ReturnType<typeof createStore> {
  const store = stores[n % stores.length]
  if (!store) throw new Error(`no store ${n}`)
  return store
}
const LIMITS = { hour: 100n, day: 150n }
const insertPayout = async () => {
  const id = randomUUID()
  await getStore().payouts.insert({
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
const takeOutflow = (id: string, scopes: readonly string[], usd: bigint, n = 0) =>
  getStore(n).transaction((tx) => tx.outflow.take(id, scopes, usd, LIMITS))
const setBack = (scope: string, time: string) =>
  app.database.query(`update outflows set at = at - interval '${time}' where scope = $1`, [scope])

describe('the rolling outflow limits (I-24)', () => {
  test('accept ten of twelve concurrent payouts of a tenth, in two processes', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, insertPayout))
    const outcomes = await Promise.all(ids.map((id, n) => takeOutflow(id, ['race'], 10n, n)))
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome === 'hour')).toHaveLength(2)
  })

  test('count a payout for one hour and for one day', async () => {
    expect(await takeOutflow(await insertPayout(), ['roll'], 100n)).toBeNull()
    expect(await takeOutflow(await insertPayout(), ['roll'], 1n)).toBe('hour')
    await setBack('roll', '61 minutes')
    expect(await takeOutflow(await insertPayout(), ['roll'], 51n)).toBe('day')
    expect(await takeOutflow(await insertPayout(), ['roll'], 50n)).toBeNull()
    await setBack('roll', '24 hours')
    expect(await takeOutflow(await insertPayout(), ['roll'], 100n)).toBeNull()
  })

  test('take from all scopes or from none', async () => {
    await takeOutflow(await insertPayout(), ['b-full'], 100n)
    expect(await takeOutflow(await insertPayout(), ['a-free', 'b-full'], 1n)).toBe('hour')
    expect(await app.database.query("select 1 from outflows where scope = 'a-free'")).toEqual([])
  })

  test('count a payout once, from its signature on', async () => {
    const id = await insertPayout()
    expect(await takeOutflow(id, ['wait'], 60n)).toBeNull()
    await setBack('wait', '2 hours')
    expect(await takeOutflow(id, ['wait'], 60n)).toBeNull()
    expect(await takeOutflow(await insertPayout(), ['wait'], 60n)).toBe('hour')
    await getStore().outflow.release([id])
    expect(await takeOutflow(await insertPayout(), ['wait'], 60n)).toBeNull()
  })
})

describe('a pause (I-25)', () => {
  test('waits for running signatures, and stops every later one once it is committed', async () => {
    const order: string[] = []
    const mayCommit = Promise.withResolvers<void>()
    const hasRead = Promise.withResolvers<void>()
    const signing = getStore().transaction(async (tx) => {
      expect(await tx.pauses.active(['all', 'payouts:eth'])).toEqual([])
      hasRead.resolve()
      await mayCommit.promise
      order.push('signed')
    })
    await hasRead.promise
    const pausing = getStore(1)
      .pauses.pause('payouts:eth', 'test', 'test')
      .then(() => order.push('paused'))
    const isPauseWaiting = async () =>
      (await app.database.query("select 1 from pg_locks where locktype = 'advisory' and not granted")).length > 0
    while (!(await isPauseWaiting()));
    mayCommit.resolve()
    await Promise.all([signing, pausing])
    expect(order).toEqual(['signed', 'paused'])
    expect(await getStore().transaction((tx) => tx.pauses.active(['all', 'payouts:eth']))).toEqual(['payouts:eth'])
    await getStore().pauses.resume('payouts:eth')
    expect(await getStore().transaction((tx) => tx.pauses.active(['payouts:eth']))).toEqual([])
  })
})
