import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutflowStore } from '../../../src/adapters/postgres/exchange/outflow.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createWatchOutflow } from '../../../src/exchange/operations/watch-outflow.ts'
import { limitsOf } from '../../../src/exchange/payouts/outflow-limits.ts'
import type { ServiceSettings } from '../../../src/exchange/settings.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'
import { payeeMacs } from '../../payee-macs.ts'

let app: TestDatabase
let stores: readonly ReturnType<typeof createStore>[]
beforeAll(async () => {
  app = await openTestDatabase()
  stores = [createStore(app.database, payeeMacs), createStore(app.another(10), payeeMacs)]
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
    purpose: 'gas',
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
  getStore(n).transaction(async (tx) => {
    const limits = scopes.map((scope) => ({ scope, ...LIMITS }))
    return (await tx.outflow.take(id, usd, limits))?.window ?? null
  })
const setBack = (scope: string, time: string) =>
  app.database.query(`update outflows set at = at - interval '${time}' where scope = $1`, [scope])

describe('the rolling outflow limits (I-24)', () => {
  test('accept ten of twelve concurrent payouts of a tenth, in two processes', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, insertPayout))
    const outcomes = await Promise.all(ids.map((id, n) => takeOutflow(id, ['race'], 10n, n)))
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome === 'hour')).toHaveLength(2)
  })

  test.each(['roll', 'recipient:eth:roll', 'refund:recipient:eth:roll'])(
    'count a payout for one hour and for one day, in the scope %s',
    async (scope) => {
      expect(await takeOutflow(await insertPayout(), [scope], 100n)).toBeNull()
      expect(await takeOutflow(await insertPayout(), [scope], 1n)).toBe('hour')
      await setBack(scope, '61 minutes')
      expect(await takeOutflow(await insertPayout(), [scope], 51n)).toBe('day')
      expect(await takeOutflow(await insertPayout(), [scope], 50n)).toBeNull()
      await setBack(scope, '24 hours')
      expect(await takeOutflow(await insertPayout(), [scope], 100n)).toBeNull()
    },
  )

  test('take from all scopes or from none', async () => {
    await takeOutflow(await insertPayout(), ['b-full'], 100n)
    expect(await takeOutflow(await insertPayout(), ['a-free', 'b-full'], 1n)).toBe('hour')
    expect(await app.database.query("select 1 from outflows where scope = 'a-free'")).toEqual([])
  })

  test.each(['wait', 'recipient:eth:wait'])(
    'count a payout once, from its signature on, in the scope %s',
    async (scope) => {
      const id = await insertPayout()
      expect(await takeOutflow(id, [scope], 60n)).toBeNull()
      await setBack(scope, '2 hours')
      expect(await takeOutflow(id, [scope], 60n)).toBeNull()
      expect(await takeOutflow(await insertPayout(), [scope], 60n)).toBe('hour')
      await getStore().outflow.release([id])
      expect(await takeOutflow(await insertPayout(), [scope], 60n)).toBeNull()
    },
  )

  // One recipient for each customer: their number has no bound.
  test('list no recipients, and keep no sums of them', async () => {
    await app.database.query('delete from outflows')
    await app.database.query('delete from outflow_sums')
    const scopes = ['all', 'network:eth', 'partner:p', 'recipient:eth:0x1', 'refund:recipient:eth:0x1']
    const id = await insertPayout()
    expect(await takeOutflow(id, scopes, 60n)).toBeNull()
    const summed = ['all', 'network:eth', 'partner:p']
    expect((await getStore().outflow.list(10)).map(({ scope }) => scope).sort()).toEqual(summed)
    const rows = await app.database.query<{ scope: string }>('select scope from outflow_sums order by scope')
    expect(rows.map(({ scope }) => scope)).toEqual(summed)
    await getStore().outflow.release([id])
  })
})

// M25: each signature added up the rows of a whole day, once per scope, under the lock of all signatures.
test('M25: the windows of a scope are exact, and a check reads few of 4 000 payouts of a day', async () => {
  await app.database.query(
    `with paid as (
       insert into payouts (id, purpose, network, asset_id, address, units)
       select gen_random_uuid(), 'gas', 'eth', 'eth@eth', 'x', 1 from generate_series(1, 4000) returning id)
     insert into outflows (payout_id, scope, usd, at)
     select id, 'busy', 1 + row_number() over () % 7, clock_timestamp() - random() * interval '26 hours' from paid`,
  )
  await app.database.query(
    "update outflows set usd = usd + 1, at = at - interval '20 minutes' where usd = 3 and scope = 'busy'",
  )
  await app.database.query("delete from outflows where usd = 5 and scope = 'busy'")
  await app.database.query('analyze outflows')
  const id = await insertPayout()
  for (const age of ['hour', 'day'] as const)
    await app.database.transaction(async (tx) => {
      const { outflow } = createStore(app.database)
      const [sum] = await tx.query<{ usd: string }>(
        `select sum(usd) as usd from outflows where scope = 'busy' and at > statement_timestamp() - interval '1 ${age}'`,
      )
      const usd = BigInt(sum?.usd ?? 0)
      const limit = { scope: 'busy', hour: 10n ** 9n, day: 10n ** 9n }
      // A row may leave the window between the two statements; none enters it.
      expect(await outflow.check(id, 1n, [{ ...limit, [age]: usd + 1n }])).toBeNull()
      expect(await outflow.check(id, 8n, [{ ...limit, [age]: usd }])).toEqual({ scope: 'busy', window: age })
    })
  const rows = await app.database.transaction(async (tx) => {
    const readRows = async () => {
      const [row] = await tx.query<{ rows: number }>(
        "select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname like 'outflow%'",
      )
      return row?.rows ?? 0
    }
    const before = await readRows()
    await createOutflowStore(tx).check(id, 1n, [{ scope: 'busy', hour: 1n, day: 1n }])
    return (await readRows()) - before
  })
  // 300 sums of five minutes, and the payouts of the intervals at the edges of the two windows.
  expect(rows).toBeLessThan(400)
})

describe('the limits of a payout', () => {
  const limits = {
    perTransactionUsd: 1n,
    hourUsd: 100n,
    dayUsd: 200n,
    partnerPercent: 25,
    networkPercent: 80,
    recipientPercent: 10,
  }
  const payout = { network: 'eth', assetId: 'usdc@eth' as const, partnerId: 'p', address: '0x1', memo: null }

  test('M10: are those of all payouts, of its asset, and shares of them for its network, partner and recipient', () => {
    expect(limitsOf(limits, { ...payout, purpose: 'payout' })).toEqual([
      { scope: 'all', hour: 100n, day: 200n },
      { scope: 'asset:usdc@eth', hour: 100n, day: 200n },
      { scope: 'network:eth', hour: 80n, day: 160n },
      { scope: 'partner:p', hour: 25n, day: 50n },
      { scope: 'recipient:eth:0x1', hour: 10n, day: 20n },
    ])
    expect(limitsOf(limits, { ...payout, purpose: 'refund' })).toEqual([
      { scope: 'refund:all', hour: 100n, day: 200n },
      { scope: 'refund:asset:usdc@eth', hour: 100n, day: 200n },
      { scope: 'refund:network:eth', hour: 80n, day: 160n },
      { scope: 'refund:partner:p', hour: 25n, day: 50n },
      { scope: 'refund:recipient:eth:0x1', hour: 10n, day: 20n },
    ])
  })

  test('count a recipient by its memo too, because customers of another exchange share an address', () => {
    const scopesOf = (memo: string | null) =>
      limitsOf(limits, { ...payout, network: 'xrp', address: 'r1', memo, purpose: 'payout' }).map(({ scope }) => scope)
    expect(scopesOf(null)).toContain('recipient:xrp:r1')
    expect(scopesOf('7')).toContain('recipient:xrp:r1:7')
    expect(scopesOf('7')).not.toContain('recipient:xrp:r1')
    expect(scopesOf('to: you')).toContain('recipient:xrp:r1:to%3A%20you')
  })

  test('have no recipient for the payout of a balance, whose payee an operator named', () => {
    const scopes = limitsOf(limits, { ...payout, partnerId: null, purpose: 'withdrawal' }).map(({ scope }) => scope)
    expect(scopes).toEqual(['all', 'asset:usdc@eth', 'network:eth'])
  })

  // M10: deposits above the maximum, returned to their senders, used up the limit of all payouts.
  test('M10: are counted apart for refunds', async () => {
    const ofPartners = { ...limits, networkPercent: 100, recipientPercent: 100 }
    const take = async (purpose: 'payout' | 'refund', usd: bigint, partnerId: string) => {
      const id = await insertPayout()
      return getStore().transaction((tx) =>
        tx.outflow.take(
          id,
          usd,
          limitsOf(ofPartners, { ...payout, partnerId, address: id, assetId: 'ltc@ltc', purpose }),
        ),
      )
    }
    for (const partner of ['1', '2', '3']) expect(await take('refund', 25n, partner)).toBeNull()
    expect(await take('refund', 1n, '3')).toEqual({ scope: 'refund:partner:3', window: 'hour' })
    expect(await take('refund', 26n, '4')).toEqual({ scope: 'refund:all', window: 'hour' })
    for (const partner of ['1', '2', '3']) expect(await take('payout', 25n, partner)).toBeNull()
    expect(await take('payout', 1n, '1')).toEqual({ scope: 'partner:1', window: 'hour' })
    expect(await take('payout', 25n, '4')).toBeNull()
    expect(await take('payout', 1n, '5')).toEqual({ scope: 'all', window: 'hour' })
  })

  test('raise an alarm at 50 and at 80 %, until less is used', async () => {
    await app.database.query('delete from outflows')
    // Half of the share of the network is a quarter of the limit.
    const ofAll = { ...limits, networkPercent: 100, recipientPercent: 100 }
    const watch = createWatchOutflow({ store: getStore(), settings: { limits: ofAll } as ServiceSettings })
    const take = async (usd: bigint) =>
      getStore().transaction(async (tx) =>
        tx.outflow.take(await insertPayout(), usd, limitsOf(ofAll, { ...payout, partnerId: null, purpose: 'payout' })),
      )
    const listAlarms = async () => {
      await watch()
      return (await getStore().alarms.list(10)).map(({ subject, alarm }) => `${subject} ${alarm}`).sort()
    }
    await take(49n)
    expect(await listAlarms()).toEqual([])
    await take(1n)
    const half = '50 % of an outflow limit is used'
    expect(await listAlarms()).toEqual([`limit-used:all ${half}`, `limit-used:asset:usdc@eth ${half}`])
    await take(30n)
    expect((await listAlarms())[0]).toBe('limit-used:all 80 % of an outflow limit is used')
    await getStore().alarms.raise('limit:all', 'reached', {})
    await setBack('all', '2 hours')
    // 80 of 200 in a day.
    expect(await listAlarms()).toEqual(['limit-used:asset:usdc@eth 80 % of an outflow limit is used'])
    await setBack('asset:usdc@eth', '2 hours')
    expect(await listAlarms()).toEqual([])
    // Of a network only if its share is smaller than the whole.
    const halved = { ...ofAll, networkPercent: 50 }
    await createWatchOutflow({ store: getStore(), settings: { limits: halved } as ServiceSettings })()
    expect((await getStore().alarms.list(10)).map(({ subject }) => subject)).toEqual(['limit-used:network:eth'])
  })
})

describe('a pause (I-25)', () => {
  test('stops every later signature at its commit, and running ones are waited for', async () => {
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
    await getStore(1).pauses.pause('payouts:eth', 'test', 'test')
    order.push('paused')
    expect(await getStore(1).transaction((tx) => tx.pauses.active(['all', 'payouts:eth']))).toEqual(['payouts:eth'])
    const waiting = getStore(1)
      .pauses.waitForSigners()
      .then(() => order.push('none signs'))
    const isWaiting = async () =>
      (await app.database.query("select 1 from pg_locks where locktype = 'advisory' and not granted")).length > 0
    while (!(await isWaiting()));
    mayCommit.resolve()
    await Promise.all([signing, waiting])
    expect(order).toEqual(['paused', 'signed', 'none signs'])
    expect(await getStore().transaction((tx) => tx.pauses.active(['all', 'payouts:eth']))).toEqual(['payouts:eth'])
    await getStore().pauses.resume('payouts:eth')
    expect(await getStore().transaction((tx) => tx.pauses.active(['payouts:eth']))).toEqual([])
  })
})
