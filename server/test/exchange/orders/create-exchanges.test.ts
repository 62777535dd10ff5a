import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import { createIdempotencyStore } from '../../../src/adapters/postgres/core/idempotency.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import type { Account } from '../../../src/core/domain/ledger/chart.ts'
import { fundingEntry, fundingReversalEntry } from '../../../src/core/domain/ledger/entries.ts'
import { journalEntry } from '../../../src/core/domain/ledger/journal.ts'
import { btc, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import type { CreateOutcome, NewExchange } from '../../../src/exchange/ports/store/exchanges.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { ETHER, makeNewExchange, partnerId, requireCreated } from '../money-path.ts'

let app: TestDatabase
let pools: readonly Database[]
let stores: readonly ReturnType<typeof createStore>[]
beforeAll(async () => {
  app = await openTestDatabase()
  pools = [app.database, app.another(10)]
  stores = pools.map((pool) => createStore(pool, payeeMacs))
  await getStore().wallets.registerAssets(['eth@eth'])
  await getStore().wallets.registerHotAddress('eth', 'eth-hot', 0)
  await getStore().ledger.post(fundingEntry('1', 1, 'eth@eth', 100n * ETHER))
})
afterAll(() => app.close())

/** The store of the n-th process. */
function getStore(n = 0): ReturnType<typeof createStore> {
  const store = stores[n % stores.length]
  if (!store) throw new Error(`no store ${n}`)
  return store
}
/** Postgres' code for a second row with the same key. */
const UNIQUE_VIOLATION = '23505'
const kindsOf = (outcomes: readonly CreateOutcome[]) => outcomes.map(({ kind }) => kind)
const makeRate = (expiresInMs = 60_000) => ({ nonce: randomUUID(), expiresAt: new Date(Date.now() + expiresInMs) })
const withKey = (key: string, requestHash = 'body'): Partial<NewExchange> => ({ idempotency: { key, requestHash } })
const withFixedRate = (toUnits: bigint): Partial<NewExchange> => ({
  flow: 'fixed-rate',
  toUnits,
  fixedLockMs: 1_200_000,
  rate: makeRate(),
})
const readPromised = async () =>
  BigInt(
    (await app.database.query<{ promised: string }>("select promised from inventory where asset_id = 'eth@eth'"))[0]
      ?.promised ?? 0,
  )
/** Sessions of this database that wait for a lock. */
const countWaiting = async () =>
  (
    await app.database.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).length
const countRows = async (ids: readonly string[]) =>
  (await app.database.query('select id from exchanges where id = any($1::uuid[])', [ids])).length

describe('the start of the app', () => {
  test('registers hot addresses concurrently from several processes, and rejects those of another keystore', async () => {
    const otherStores = Array.from({ length: 6 }, () => createStore(app.another(1), payeeMacs))
    for (let round = 0; round < 40; round++)
      await Promise.all(
        otherStores.map((other) => other.wallets.registerHotAddress(`chain-${round}`, `hot-${round}`, round)),
      )
    await expect(getStore().wallets.registerHotAddress('chain-0', 'hot of other keys', 1)).rejects.toThrow('keystore')
  })
})

describe('a batch of creates', () => {
  test('returns an outcome for each row, and stores nothing of a rejected row', async () => {
    const usedRate = makeRate()
    expect(kindsOf(await getStore().exchanges.create([makeNewExchange({ rate: usedRate })]))).toEqual(['created'])
    const existing = requireCreated((await getStore().exchanges.create([makeNewExchange()]))[0])
    const promisedBefore = await readPromised()
    const key = randomUUID()
    const batch = [
      makeNewExchange(),
      makeNewExchange({ rate: usedRate }),
      makeNewExchange({ rate: makeRate(-1) }),
      makeNewExchange({ recipient: { address: 'eth-hot', memo: null } }),
      makeNewExchange({ refund: { address: existing.deposit.address, memo: null } }),
      makeNewExchange(withFixedRate(10n * ETHER)),
      makeNewExchange(withFixedRate(1_000n * ETHER)),
      makeNewExchange({
        ...withFixedRate(10n * ETHER),
        recipient: { address: 'eth-hot', memo: null },
        ...withKey(randomUUID()),
      }),
      makeNewExchange(withKey(key)),
      makeNewExchange(withKey(key)),
      makeNewExchange(withKey(key, 'another body')),
    ]
    const outcomes = await getStore().exchanges.create(batch)
    expect(kindsOf(outcomes)).toEqual([
      'created',
      'rate_used',
      'rate_expired',
      'address_is_ours',
      'refund_is_ours',
      'created',
      'insufficient',
      'address_is_ours',
      'created',
      'repeated',
      'idempotency_conflict',
    ])
    expect(requireCreated(outcomes[9]).id).toBe(requireCreated(outcomes[8]).id)
    expect(await countRows(batch.map(({ id }) => id))).toBe(3)
    expect((await readPromised()) - promisedBefore).toBe(10n * ETHER)
    expect(
      await app.database.query('select 1 from idempotency_keys where exchange_id = any($1::uuid[])', [
        batch.slice(0, 8).map(({ id }) => id),
      ]),
    ).toEqual([])
  })

  test('reports a rate that is used and expired as expired', async () => {
    const usedRate = makeRate()
    expect(kindsOf(await getStore().exchanges.create([makeNewExchange({ rate: usedRate })]))).toEqual(['created'])
    const expiredRate = { ...usedRate, expiresAt: makeRate(-1).expiresAt }
    for (const terms of [{}, withFixedRate(10n * ETHER), withKey(randomUUID())])
      expect(kindsOf(await getStore().exchanges.create([makeNewExchange({ ...terms, rate: expiredRate })]))).toEqual([
        'rate_expired',
      ])
  })

  test('rejects an address of ours from another EVM network, where the same key has the same address', async () => {
    const deposit = { address: `0x${randomUUID()}`, memo: null }
    const legs = [{ from: { ...usdt.asset, network: 'arbitrum' }, to: btc.asset }]
    expect(kindsOf(await getStore().exchanges.create([{ ...makeNewExchange(), deposit, legs }]))).toEqual(['created'])
    const batch = [
      makeNewExchange({ recipient: deposit }),
      makeNewExchange({ refund: deposit }),
      makeNewExchange({ recipient: { address: 'bsc-hot', memo: null } }),
      makeNewExchange({ refund: { address: 'bsc-hot', memo: null } }),
    ]
    await getStore().wallets.registerHotAddress('bsc', 'bsc-hot', 0)
    await getStore().wallets.registerHotAddress('polygon', 'bsc-hot', 0)
    expect(kindsOf(await getStore().exchanges.create(batch))).toEqual([
      'address_is_ours',
      'refund_is_ours',
      'address_is_ours',
      'refund_is_ours',
    ])
  })

  test('returns an outcome for each row when all rows are stored by one statement', async () => {
    const usedRate = makeRate()
    const batch = [makeNewExchange({ rate: usedRate }), makeNewExchange({ rate: usedRate }), makeNewExchange()]
    expect(kindsOf(await getStore().exchanges.create(batch)).sort()).toEqual(['created', 'created', 'rate_used'])
  })

  test('returns the stored exchange', async () => {
    const row = makeNewExchange({ ...withFixedRate(ETHER), ...withKey(randomUUID()) })
    const exchange = requireCreated((await getStore().exchanges.create([row]))[0])
    const stored = (await getStore().exchanges.find(partnerId, row.id))?.exchange
    expect(exchange).toEqual(stored)
    expect((exchange.fixedUntil?.getTime() ?? 0) - exchange.createdAt.getTime()).toBe(1_200_000)
    expect(exchange.expiresAt.getTime() - exchange.createdAt.getTime()).toBe(86_400_000)
    const [target] = await app.database.query(
      'select leg, network, address, memo from deposit_targets where exchange_id = $1',
      [row.id],
    )
    expect(target).toEqual({ leg: 0, network: 'btc', address: row.deposit.address, memo: '' })
  })
})

describe('a rateId', () => {
  test('creates one exchange when two processes use it fifty times at once (I-18)', async () => {
    for (const terms of [{}, withFixedRate(ETHER / 100n)]) {
      const rate = makeRate()
      const batch = Array.from({ length: 50 }, () => makeNewExchange({ ...terms, rate }))
      const outcomes = await Promise.all(batch.map((row, n) => getStore(n).exchanges.create([row])))
      expect(kindsOf(outcomes.flat()).sort()).toEqual(['created', ...Array.from({ length: 49 }, () => 'rate_used')])
      expect(await countRows(batch.map(({ id }) => id))).toBe(1)
    }
  })

  test('creates one exchange per rate, without a deadlock, when two batches use the same rates in opposite order', async () => {
    for (let n = 0; n < 10; n++) {
      const [a, b] = [makeRate(), makeRate()]
      const outcomes = await Promise.all([
        getStore(0).exchanges.create([makeNewExchange({ rate: a }), makeNewExchange({ rate: b })]),
        getStore(1).exchanges.create([makeNewExchange({ rate: b }), makeNewExchange({ rate: a })]),
      ])
      expect(kindsOf(outcomes.flat()).filter((kind) => kind === 'created')).toHaveLength(2)
    }
  })
})

describe('an idempotency key', () => {
  const LEASE_MS = 60_000
  const responses = () => createIdempotencyStore(app.database)
  const claimOf = (key: string) => ({ partnerId, key, id: randomUUID() })

  test('is shared by exchanges and swaps', async () => {
    const claim = claimOf('a swap')
    await responses().claim(claim, 'body', LEASE_MS)
    // The swap is being sent.
    expect(kindsOf(await getStore().exchanges.create([makeNewExchange(withKey('a swap'))]))).toEqual([
      'idempotency_conflict',
    ])
    await responses().save({ claim, response: '"0xabc"' })
    expect(kindsOf(await getStore().exchanges.create([makeNewExchange(withKey('a swap'))]))).toEqual([
      'idempotency_conflict',
    ])
    expect(kindsOf(await getStore().exchanges.create([makeNewExchange(withKey('an exchange'))]))).toEqual(['created'])
    const ofExchange = { requestHash: 'body', response: null }
    expect(await responses().claim(claimOf('an exchange'), 'body', LEASE_MS)).toEqual(ofExchange)
  })

  test('that a crashed process claimed does not block a create when its lease has ended', async () => {
    const claim = claimOf(randomUUID())
    await responses().claim(claim, 'body', 0)
    expect(kindsOf(await getStore().exchanges.create([makeNewExchange(withKey(claim.key))]))).toEqual(['created'])
  })

  test('expires after 24 hours, for exchanges and swaps', async () => {
    const [key, swapKey] = [randomUUID(), randomUUID()]
    const createOther = () => getStore().exchanges.create([makeNewExchange(withKey(key, 'other'))])
    const setBack = async (by: string) => {
      for (const table of ['idempotency_keys', 'kept_answers'])
        await app.database.query(
          `update ${table} set created_at = created_at - $1::interval where key = any($2::text[])`,
          [by, [key, swapKey]],
        )
      await getStore().jobs.deleteExpired()
    }
    await getStore().exchanges.create([makeNewExchange(withKey(key))])
    const claim = claimOf(swapKey)
    await responses().claim(claim, 'body', LEASE_MS)
    await responses().save({ claim, response: '"0xabc"' })
    const claimAgain = () => responses().claim(claimOf(swapKey), 'body', LEASE_MS)
    await setBack('23 hours 59 minutes')
    expect(kindsOf(await createOther())).toEqual(['idempotency_conflict'])
    expect(await claimAgain()).toEqual({ requestHash: 'body', response: '"0xabc"' })
    await setBack('1 minute')
    expect(kindsOf(await createOther())).toEqual(['created'])
    expect(await claimAgain()).toBe('claimed')
  })

  test('creates one exchange when two processes use it twenty times at once (I-21)', async () => {
    const key = randomUUID()
    const batch = Array.from({ length: 20 }, () => makeNewExchange(withKey(key)))
    const outcomes = (await Promise.all(batch.map((row, n) => getStore(n).exchanges.create([row])))).flat()
    expect(kindsOf(outcomes).sort()).toEqual(['created', ...Array.from({ length: 19 }, () => 'repeated')])
    for (const outcome of outcomes) expect(requireCreated(outcome)).toEqual(requireCreated(outcomes[0]))
    expect(await countRows(batch.map(({ id }) => id))).toBe(1)
  })

  test('repeats the first response after the status of the exchange has changed', async () => {
    const estimate = { confirmations: 4, seconds: 1_800 }
    const row = makeNewExchange({ ...withKey(randomUUID()), estimate })
    const first = requireCreated((await getStore().exchanges.create([row]))[0])
    expect(first.estimate).toEqual(estimate)
    await app.database.query("update exchanges set status = 'failed', reason = 'EXPIRED' where id = $1", [row.id])
    const repeated = await getStore(1).exchanges.create([
      makeNewExchange(row.idempotency === null ? {} : { idempotency: row.idempotency }),
    ])
    expect(repeated).toEqual([{ kind: 'repeated', exchange: first }])
  })

  test('is free after a rejected create, and for another partner', async () => {
    const key = randomUUID()
    expect(
      kindsOf(await getStore().exchanges.create([makeNewExchange({ ...withKey(key), ...withFixedRate(10n ** 40n) })])),
    ).toEqual(['insufficient'])
    expect(kindsOf(await getStore().exchanges.create([makeNewExchange(withKey(key))]))).toEqual(['created'])
    expect(
      kindsOf(await getStore().exchanges.create([{ ...makeNewExchange(withKey(key)), partnerId: randomUUID() }])),
    ).toEqual(['created'])
  })

  test('creates the valid exchange while another process rejects a create with the same key', async () => {
    for (let n = 0; n < 8; n++) {
      const key = randomUUID()
      const outcomes = await Promise.all([
        getStore(0).exchanges.create([makeNewExchange({ ...withKey(key), ...withFixedRate(10n ** 40n) })]),
        getStore(1).exchanges.create([makeNewExchange(withKey(key))]),
      ])
      // The rejected create does not store the key.
      expect(kindsOf(outcomes.flat())[1]).toBe('created')
    }
  })
})

describe('the inventory', () => {
  test('reserves 100 units for ten of twelve concurrent requests of 10', async () => {
    await getStore().wallets.registerAssets(['usdt@eth'])
    await getStore().ledger.post(fundingEntry('2', 1, 'usdt@eth', 100n))
    const legs = [
      {
        from: makeNewExchange().legs[0]?.from,
        to: { id: 'usdt@eth', ticker: 'usdt', network: 'eth', decimals: 6, contract: '0xusdt' },
      },
    ] as NewExchange['legs']
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        getStore(n).exchanges.create([{ ...makeNewExchange(withFixedRate(10n)), legs }]),
      ),
    )
    expect(kindsOf(outcomes.flat()).filter((kind) => kind === 'created')).toHaveLength(10)
    expect((await getStore().inventory.available()).get('usdt@eth')).toBe(0n)
  })

  // M27.1: proceeds that a partner keeps with us were sold to the next customer.
  test('M27.1: sells nothing that is owed to partners, to unknown senders, or to queued withdrawals', async () => {
    const asset = 'uni@eth'
    await getStore().wallets.registerAssets([asset])
    const exchange = requireCreated((await getStore().exchanges.create([makeNewExchange()]))[0])
    const post = (debit: Account, credit: Account, units: bigint) =>
      getStore().ledger.post(journalEntry(randomUUID(), 'test', null, [{ debit, credit, assetId: asset, units }]))
    await post('asset:wallet', 'equity:capital', 1_000n)
    await post('equity:inventory', `liability:partner:${partnerId}`, 100n)
    await post('equity:inventory', `liability:partner:${randomUUID()}`, 50n)
    await post('equity:inventory', 'liability:unclaimed', 200n)
    const withdrawal = randomUUID()
    await post('equity:capital', `liability:withdrawal:${withdrawal}`, 300n)
    await getStore().payouts.insert({
      id: withdrawal,
      ...{ exchangeId: null, executionId: null, depositId: null, leg: null, memo: null },
      ...{ purpose: 'withdrawal', network: 'eth', assetId: asset, from: 'hot', address: 'cold', units: 300n },
      owedFrom: 'equity:capital',
    })
    const available = async () => (await getStore().inventory.available()).get(asset)
    // 1 000 − 100 − 50 − 200 − 300
    expect(await available()).toBe(350n)
    expect((await getStore().inventory.fixedStock()).get(asset)).toMatchObject({ freeUnits: 350n })
    const reserve = (id: string, units: bigint) =>
      getStore().transaction((tx) => tx.inventory.reserve(id, asset, units, exchange.id, null))
    expect(await reserve('too much', 351n)).toBe(false)
    expect(await reserve('all', 350n)).toBe(true)
    // More owed than the wallet holds is no stock, and no negative one.
    await post('equity:inventory', 'liability:unclaimed', 10n)
    expect(await available()).toBe(0n)
  })

  // M3: one customer could promise himself the whole reserve, at no cost.
  test.each([
    { way: 'one at a time', ticker: 'dai', journalId: '3', groups: 7 },
    { way: 'in one batch', ticker: 'usdd', journalId: '5', groups: 1 },
  ])(
    'M3: promises 30 % of the free reserve at fixed rates before they are paid, and a third of that to one partner: $way',
    async ({ ticker, journalId, groups }) => {
      const id = `${ticker}@eth` as const
      await getStore().wallets.registerAssets([id])
      await getStore().ledger.post(fundingEntry(journalId, 1, id, 1_000n))
      const to = { id, ticker, network: 'eth', decimals: 18, contract: `0x${ticker}` } as const
      const makeRow = (units: bigint, partner: string) => {
        const row = makeNewExchange({ ...withFixedRate(units), fixedReservePercent: 30, fixedPartnerPercent: 33 })
        return { ...row, legs: row.legs.map(({ from }) => ({ from, to })), partnerId: partner }
      }
      const [second, third, fourth] = [randomUUID(), randomUUID(), randomUUID()]
      // 300 in all, 99 for each partner.
      const requested = [
        [partnerId, 100n, 'insufficient'],
        [partnerId, 60n, 'created'],
        [partnerId, 40n, 'insufficient'],
        [partnerId, 39n, 'created'],
        [second, 99n, 'created'],
        [third, 90n, 'created'],
        [fourth, 13n, 'insufficient'],
      ] as const
      const rows = requested.map(([partner, units]) => makeRow(units, partner))
      const outcomes: CreateOutcome[] = []
      const size = rows.length / groups
      for (let at = 0; at < rows.length; at += size)
        outcomes.push(...(await getStore().exchanges.create(rows.slice(at, at + size))))
      expect(kindsOf(outcomes)).toEqual(requested.map(([, , kind]) => kind))
      const stock = (await getStore().inventory.fixedStock()).get(id)
      expect(stock).toMatchObject({ freeUnits: 1_000n, heldUnits: 288n })
      expect(stock?.heldByPartner.get(second)).toBe(99n)
      // A paid promise is no longer an unpaid one: 189 + 10 of the 270 that 30 % of 901 are.
      await app.database.query('update reservations set paid = true where partner_id = $1', [second])
      expect(kindsOf(await getStore().exchanges.create([makeRow(10n, fourth)]))).toEqual(['created'])
      const [row] = await app.database.query<{ promised: string }>(
        'select promised from inventory where asset_id = $1',
        [id],
      )
      expect(row?.promised).toBe('298')
    },
  )

  // M12: a reservation that waited for another transaction saw the wallet as it was before the wait.
  test('M12: does not reserve what a concurrent payout has just spent', async () => {
    await getStore().wallets.registerAssets(['link@eth'])
    await getStore().ledger.post(fundingEntry('4', 1, 'link@eth', 100n))
    const exchange = requireCreated((await getStore().exchanges.create([makeNewExchange()]))[0])
    const reserve = (id: string, units: bigint, n: number) =>
      getStore(n).transaction((tx) => tx.inventory.reserve(id, 'link@eth', units, exchange.id, null))
    expect(await reserve('paid', 60n, 0)).toBe(true)
    let waiting: Promise<boolean> = Promise.resolve(true)
    await getStore(0).transaction(async (tx) => {
      await tx.ledger.post(fundingReversalEntry('4', 1, 'link@eth', 60n))
      await tx.inventory.release('paid')
      waiting = reserve('next', 100n, 1)
      await until('the other transaction waits for the row of the inventory', async () => (await countWaiting()) === 1)
    })
    expect(await waiting).toBe(false)
    expect(await reserve('last', 40n, 1)).toBe(true)
  })

  // An order skips the check of the stock for what its own exchange had reserved.
  test('does not promise a reserve to others that an order has read and not used yet', async () => {
    await getStore().wallets.registerAssets(['aave@eth'])
    await getStore().ledger.post(fundingEntry('6', 1, 'aave@eth', 100n))
    const [exchange, other] = [makeNewExchange(), makeNewExchange()]
    expect(kindsOf(await getStore().exchanges.create([exchange, other]))).toEqual(['created', 'created'])
    const reserve = (id: string, exchangeId: string, n: number) =>
      getStore(n).transaction((tx) => tx.inventory.reserve(id, 'aave@eth', 100n, exchangeId, null))
    const hold = `hold:${exchange.id}`
    expect(await reserve(hold, exchange.id, 0)).toBe(true)
    await app.database.query("update reservations set expires_at = now() - interval '1 minute' where id = $1", [hold])
    const isFilled = await getStore(0).transaction(async (tx) => {
      const units = await tx.inventory.lockReservedUnits(exchange.id)
      await getStore(1).inventory.releaseExpired(100)
      expect(await reserve('of the other', other.id, 1)).toBe(false)
      await tx.inventory.release(hold)
      return tx.inventory.reserve('order', 'aave@eth', 100n, exchange.id, null, units)
    })
    expect(isFilled).toBe(true)
    expect(
      await app.database.query("select promised from inventory where asset_id = 'aave@eth' and promised = 100"),
    ).toHaveLength(1)
  })

  test('reserves and releases an id once under concurrent calls', async () => {
    const exchange = requireCreated((await getStore().exchanges.create([makeNewExchange()]))[0])
    const promisedBefore = await readPromised()
    const runSixTimes = (work: () => Promise<unknown>) => Promise.all(Array.from({ length: 6 }, work))
    const outcomes = await runSixTimes(() =>
      getStore()
        .transaction((tx) => tx.inventory.reserve(`order:${exchange.id}`, 'eth@eth', 5n, exchange.id, null))
        .catch((error: { code?: string }) => error.code),
    )
    // Postgres refuses the second row of an id; who comes later finds the first.
    expect(outcomes.filter((outcome) => outcome !== UNIQUE_VIOLATION && outcome !== true)).toEqual([])
    expect(outcomes).toContain(true)
    expect((await readPromised()) - promisedBefore).toBe(5n)
    expect(
      (await runSixTimes(() => getStore().inventory.release(`order:${exchange.id}`))).filter((units) => units === 5n),
    ).toHaveLength(1)
    expect(await readPromised()).toBe(promisedBefore)
  })

  test('releases the reservation of a fixed rate when it expires', async () => {
    const promisedBefore = await readPromised()
    const row = makeNewExchange(withFixedRate(ETHER))
    await getStore().exchanges.create([row])
    await app.database.query(
      "update reservations set expires_at = clock_timestamp() - interval '1 second' where exchange_id = $1",
      [row.id],
    )
    await Promise.all([getStore(0).inventory.releaseExpired(100), getStore(1).inventory.releaseExpired(100)])
    expect(await readPromised()).toBe(promisedBefore)
  })
})

describe('derivation indexes', () => {
  test('are allocated once', async () => {
    const indexes = (
      await Promise.all(Array.from({ length: 10 }, (_, n) => getStore(n).exchanges.takeKeyIndexes(50)))
    ).flat()
    expect(new Set(indexes).size).toBe(500)
  })
})
