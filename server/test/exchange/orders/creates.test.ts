import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createSwapIdempotencyStore } from '../../../src/adapters/postgres/swap/idempotency.ts'
import { fundingEntry } from '../../../src/core/domain/ledger/entries.ts'
import { btc, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import type { CreateOutcome, NewExchange } from '../../../src/exchange/ports/store/exchanges.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'
import { created, ETHER, newExchange, partnerId } from '../money-path.ts'

let app: TestDatabase
let pools: readonly Database[]
let stores: readonly ReturnType<typeof createStore>[]
beforeAll(async () => {
  app = await openTestDatabase()
  pools = [app.database, app.another(10)]
  stores = pools.map(createStore)
  await store().wallets.registerAssets(['eth@eth'])
  await store().wallets.registerHotAddress('eth', 'eth-hot', 0)
  await store().ledger.post(fundingEntry('1', 1, 'eth@eth', 100n * ETHER))
})
afterAll(() => app.close())

function store(n = 0): ReturnType<typeof createStore> {
  const one = stores[n % stores.length]
  if (!one) throw new Error('no store')
  return one
}
const kinds = (outcomes: readonly CreateOutcome[]) => outcomes.map(({ kind }) => kind)
const rate = (expiresInMs = 60_000) => ({ nonce: randomUUID(), expiresAt: new Date(Date.now() + expiresInMs) })
const keyed = (key: string, requestHash = 'body'): Partial<NewExchange> => ({ idempotency: { key, requestHash } })
const fixed = (toUnits: bigint): Partial<NewExchange> => ({
  flow: 'fixed-rate',
  toUnits,
  fixedLockMs: 1_200_000,
  rate: rate(),
})
const promised = async () =>
  BigInt(
    (await app.database.query<{ promised: string }>("select promised from inventory where asset_id = 'eth@eth'"))[0]
      ?.promised ?? 0,
  )
const rows = async (ids: readonly string[]) =>
  (await app.database.query('select id from exchanges where id = any($1::uuid[])', [ids])).length

describe('the app at its start', () => {
  test('registers its hot addresses from any number of processes at once', async () => {
    const others = Array.from({ length: 6 }, () => createStore(app.another(1)))
    for (let round = 0; round < 40; round++)
      await Promise.all(others.map((one) => one.wallets.registerHotAddress(`chain-${round}`, `hot-${round}`, round)))
    await expect(store().wallets.registerHotAddress('chain-0', 'hot of other keys', 1)).rejects.toThrow('keystore')
  })
})

describe('a batch', () => {
  test('gives every row its own outcome, and writes nothing of what it refuses', async () => {
    const used = rate()
    expect(kinds(await store().exchanges.create([newExchange({ rate: used })]))).toEqual(['created'])
    const ours = created((await store().exchanges.create([newExchange()]))[0])
    const before = await promised()
    const key = randomUUID()
    const batch = [
      newExchange(),
      newExchange({ rate: used }),
      newExchange({ rate: rate(-1) }),
      newExchange({ recipient: { address: 'eth-hot', memo: null } }),
      newExchange({ refund: { address: ours.deposit.address, memo: null } }),
      newExchange(fixed(10n * ETHER)),
      newExchange(fixed(1_000n * ETHER)),
      newExchange({ ...fixed(10n * ETHER), recipient: { address: 'eth-hot', memo: null }, ...keyed(randomUUID()) }),
      newExchange(keyed(key)),
      newExchange(keyed(key)),
      newExchange(keyed(key, 'another body')),
    ]
    const outcomes = await store().exchanges.create(batch)
    expect(kinds(outcomes)).toEqual([
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
    expect(created(outcomes[9]).id).toBe(created(outcomes[8]).id)
    expect(await rows(batch.map(({ id }) => id))).toBe(3)
    expect((await promised()) - before).toBe(10n * ETHER)
    expect(
      await app.database.query('select 1 from idempotency_keys where exchange_id = any($1::uuid[])', [
        batch.slice(0, 8).map(({ id }) => id),
      ]),
    ).toEqual([])
  })

  test('reports a used and expired rate as expired, in either order', async () => {
    const used = rate()
    expect(kinds(await store().exchanges.create([newExchange({ rate: used })]))).toEqual(['created'])
    const spent = { ...used, expiresAt: rate(-1).expiresAt }
    for (const order of [{}, fixed(10n * ETHER), keyed(randomUUID())])
      expect(kinds(await store().exchanges.create([newExchange({ ...order, rate: spent })]))).toEqual(['rate_expired'])
  })

  test('takes no address of ours on another network: one key has one address on every EVM network', async () => {
    const deposit = { address: `0x${randomUUID()}`, memo: null }
    const legs = [{ from: { ...usdt.asset, network: 'arbitrum' }, to: btc.asset }]
    expect(kinds(await store().exchanges.create([{ ...newExchange(), deposit, legs }]))).toEqual(['created'])
    const batch = [
      newExchange({ recipient: deposit }),
      newExchange({ refund: deposit }),
      newExchange({ recipient: { address: 'bsc-hot', memo: null } }),
      newExchange({ refund: { address: 'bsc-hot', memo: null } }),
    ]
    await store().wallets.registerHotAddress('bsc', 'bsc-hot', 0)
    await store().wallets.registerHotAddress('polygon', 'bsc-hot', 0)
    expect(kinds(await store().exchanges.create(batch))).toEqual([
      'address_is_ours',
      'refund_is_ours',
      'address_is_ours',
      'refund_is_ours',
    ])
  })

  test('of plain rows does so in one statement', async () => {
    const used = rate()
    const batch = [newExchange({ rate: used }), newExchange({ rate: used }), newExchange()]
    expect(kinds(await store().exchanges.create(batch)).sort()).toEqual(['created', 'created', 'rate_used'])
  })

  test('answers with what is stored', async () => {
    const row = newExchange({ ...fixed(ETHER), ...keyed(randomUUID()) })
    const answer = created((await store().exchanges.create([row]))[0])
    const stored = (await store().exchanges.find(partnerId, row.id))?.exchange
    expect(answer).toEqual(stored)
    expect((answer.fixedUntil?.getTime() ?? 0) - answer.createdAt.getTime()).toBe(1_200_000)
    expect(answer.expiresAt.getTime() - answer.createdAt.getTime()).toBe(86_400_000)
    const [target] = await app.database.query(
      'select leg, network, address, memo from deposit_targets where exchange_id = $1',
      [row.id],
    )
    expect(target).toEqual({ leg: 0, network: 'btc', address: row.deposit.address, memo: '' })
  })
})

describe('a rateId', () => {
  test('fifty times at once, in two processes, makes one exchange (I-18)', async () => {
    for (const terms of [{}, fixed(ETHER / 100n)]) {
      const one = rate()
      const batch = Array.from({ length: 50 }, () => newExchange({ ...terms, rate: one }))
      const outcomes = await Promise.all(batch.map((row, n) => store(n).exchanges.create([row])))
      expect(kinds(outcomes.flat()).sort()).toEqual(['created', ...Array.from({ length: 49 }, () => 'rate_used')])
      expect(await rows(batch.map(({ id }) => id))).toBe(1)
    }
  })

  test('in two batches that hold the same ones in another order: no deadlock, each once', async () => {
    for (let n = 0; n < 10; n++) {
      const [a, b] = [rate(), rate()]
      const outcomes = await Promise.all([
        store(0).exchanges.create([newExchange({ rate: a }), newExchange({ rate: b })]),
        store(1).exchanges.create([newExchange({ rate: b }), newExchange({ rate: a })]),
      ])
      expect(kinds(outcomes.flat()).filter((kind) => kind === 'created')).toHaveLength(2)
    }
  })
})

describe('an idempotency key', () => {
  test('that a call of a swap used is used, as it is the other way round', async () => {
    const responses = createSwapIdempotencyStore(app.database)
    await responses.saveResponse(partnerId, 'a swap', { requestHash: 'body', response: '"0xabc"' })
    expect(kinds(await store().exchanges.create([newExchange(keyed('a swap'))]))).toEqual(['idempotency_conflict'])
    expect(kinds(await store().exchanges.create([newExchange(keyed('an exchange'))]))).toEqual(['created'])
    expect(await responses.findResponse(partnerId, 'an exchange')).toEqual({ requestHash: 'body', response: null })
  })

  test('is kept for 24 hours, and is free after them; so is that of a swap', async () => {
    const responses = createSwapIdempotencyStore(app.database)
    const [key, swapKey] = [randomUUID(), randomUUID()]
    const other = () => store().exchanges.create([newExchange(keyed(key, 'other'))])
    const age = async (by: string) => {
      for (const table of ['idempotency_keys', 'kept_answers'])
        await app.database.query(
          `update ${table} set created_at = created_at - $1::interval where key = any($2::text[])`,
          [by, [key, swapKey]],
        )
      await store().jobs.deleteExpired()
    }
    await store().exchanges.create([newExchange(keyed(key))])
    await responses.saveResponse(partnerId, swapKey, { requestHash: 'body', response: '"0xabc"' })
    await age('23 hours 59 minutes')
    expect(kinds(await other())).toEqual(['idempotency_conflict'])
    expect(await responses.findResponse(partnerId, swapKey)).not.toBeNull()
    await age('1 minute')
    expect(kinds(await other())).toEqual(['created'])
    expect(await responses.findResponse(partnerId, swapKey)).toBeNull()
  })

  test('twenty times at once, in two processes, makes one exchange (I-21)', async () => {
    const key = randomUUID()
    const batch = Array.from({ length: 20 }, () => newExchange(keyed(key)))
    const outcomes = (await Promise.all(batch.map((row, n) => store(n).exchanges.create([row])))).flat()
    expect(kinds(outcomes).sort()).toEqual(['created', ...Array.from({ length: 19 }, () => 'repeated')])
    for (const outcome of outcomes) expect(created(outcome)).toEqual(created(outcomes[0]))
    expect(await rows(batch.map(({ id }) => id))).toBe(1)
  })

  test('is answered as it was, however far the exchange has come', async () => {
    const row = newExchange(keyed(randomUUID()))
    const first = created((await store().exchanges.create([row]))[0])
    await app.database.query("update exchanges set status = 'failed', reason = 'EXPIRED' where id = $1", [row.id])
    const again = await store(1).exchanges.create([
      newExchange(row.idempotency === null ? {} : { idempotency: row.idempotency }),
    ])
    expect(again).toEqual([{ kind: 'repeated', exchange: first }])
  })

  test('of a row that was refused is free again, and so is one of another partner', async () => {
    const key = randomUUID()
    expect(kinds(await store().exchanges.create([newExchange({ ...keyed(key), ...fixed(10n ** 40n) })]))).toEqual([
      'insufficient',
    ])
    expect(kinds(await store().exchanges.create([newExchange(keyed(key))]))).toEqual(['created'])
    expect(kinds(await store().exchanges.create([{ ...newExchange(keyed(key)), partnerId: randomUUID() }]))).toEqual([
      'created',
    ])
  })

  test('while its twin is refused in another process: one of them is made', async () => {
    for (let n = 0; n < 8; n++) {
      const key = randomUUID()
      const outcomes = await Promise.all([
        store(0).exchanges.create([newExchange({ ...keyed(key), ...fixed(10n ** 40n) })]),
        store(1).exchanges.create([newExchange(keyed(key))]),
      ])
      // The refused one leaves nothing; the other was created.
      expect(kinds(outcomes.flat())[1]).toBe('created')
    }
  })
})

describe('the inventory', () => {
  test('promises a hundred to ten of twelve who want ten', async () => {
    await store().wallets.registerAssets(['usdt@eth'])
    await store().ledger.post(fundingEntry('2', 1, 'usdt@eth', 100n))
    const legs = [
      {
        from: newExchange().legs[0]?.from,
        to: { id: 'usdt@eth', ticker: 'usdt', network: 'eth', decimals: 6, contract: '0xusdt' },
      },
    ] as NewExchange['legs']
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, n) => store(n).exchanges.create([{ ...newExchange(fixed(10n)), legs }])),
    )
    expect(kinds(outcomes.flat()).filter((kind) => kind === 'created')).toHaveLength(10)
    expect((await store().inventory.available()).get('usdt@eth')).toBe(0n)
  })

  test('gives back once, and promises an id once', async () => {
    const exchange = created((await store().exchanges.create([newExchange()]))[0])
    const before = await promised()
    const many = (work: () => Promise<unknown>) => Promise.all(Array.from({ length: 6 }, work))
    await many(() =>
      store()
        .transaction((tx) => tx.inventory.reserve(`order:${exchange.id}`, 'eth@eth', 5n, exchange.id, null))
        .catch(() => null),
    )
    expect((await promised()) - before).toBe(5n)
    expect(
      (await many(() => store().inventory.release(`order:${exchange.id}`))).filter((units) => units === 5n),
    ).toHaveLength(1)
    expect(await promised()).toBe(before)
  })

  test('takes back what a fixed rate held when its time is over', async () => {
    const before = await promised()
    const row = newExchange(fixed(ETHER))
    await store().exchanges.create([row])
    await app.database.query(
      "update reservations set expires_at = clock_timestamp() - interval '1 second' where exchange_id = $1",
      [row.id],
    )
    await Promise.all([store(0).inventory.releaseExpired(100), store(1).inventory.releaseExpired(100)])
    expect(await promised()).toBe(before)
  })
})

describe('derivation indices', () => {
  test('are given out once', async () => {
    const taken = (
      await Promise.all(Array.from({ length: 10 }, (_, n) => store(n).exchanges.takeKeyIndexes(50)))
    ).flat()
    expect(new Set(taken).size).toBe(500)
  })
})
