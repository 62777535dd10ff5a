import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import type { ExchangeView } from '../../../src/exchange/domain/exchange.ts'
import { createListExchanges } from '../../../src/exchange/orders/find-exchange.ts'
import { created, newExchange } from '../../exchange/money-path.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

/** Store functions that answer a partner. A function that is added here must filter by partner. */
const answering = ['find', 'findRepeated', 'list', 'count', 'countOpen'] as const

let app: TestDatabase
let store: ReturnType<typeof createStore>
const partners = [randomUUID(), randomUUID()] as const
const owner = new Map<string, string>()
const keys = new Map<string, string>()

beforeAll(async () => {
  app = await openTestDatabase()
  // One connection for all partners, so that state left on it by one would affect the next.
  store = createStore(app.another(1))
  for (const partnerId of partners) {
    for (let n = 0; n < 30; n++) {
      const idempotency = { key: `key-${n}`, requestHash: partnerId }
      const exchange = created((await store.exchanges.create([{ ...newExchange({ idempotency }), partnerId }]))[0])
      owner.set(exchange.id, partnerId)
      keys.set(`${partnerId} ${idempotency.key}`, exchange.id)
    }
  }
})
afterAll(() => app.close())

const of = (partnerId: string) =>
  [...owner]
    .filter(([, one]) => one === partnerId)
    .map(([id]) => id)
    .sort()
const ids = (views: readonly ExchangeView[]) => views.map(({ exchange }) => exchange.id).sort()
async function streamed(partnerId: string): Promise<ExchangeView[]> {
  const { rows } = await createListExchanges(store)(
    { id: partnerId } as Parameters<ReturnType<typeof createListExchanges>>[0],
    {},
    null,
  )
  const views: ExchangeView[] = []
  for await (const view of rows) views.push(view)
  return views
}

describe('rows of a partner (I-20)', () => {
  test('are the only rows in its responses, however the calls interleave', async () => {
    // Each is requested twice by each partner; the second request uses the cache.
    const calls = [...owner.keys(), ...owner.keys()].flatMap((id) =>
      partners.map(async (partnerId) => {
        const found = await store.exchanges.find(partnerId, id)
        expect(found?.exchange.id ?? null).toBe(owner.get(id) === partnerId ? id : null)
      }),
    )
    for (const partnerId of partners) {
      for (let n = 0; n < 10; n++) {
        calls.push(
          store.exchanges.list({ partnerId }, null, 100, 0).then((views) => expect(ids(views)).toEqual(of(partnerId))),
        )
        calls.push(store.exchanges.count({ partnerId }).then((total) => expect(total).toBe(30)))
        calls.push(store.exchanges.countOpen(partnerId, 1_000).then((total) => expect(total).toBe(30)))
        calls.push(
          store.exchanges.findRepeated(partnerId, `key-${n}`).then((found) => {
            expect(found?.requestHash).toBe(partnerId)
            expect(found?.exchange.id).toBe(keys.get(`${partnerId} key-${n}`))
          }),
        )
        calls.push(streamed(partnerId).then((views) => expect(ids(views)).toEqual(of(partnerId))))
      }
    }
    await Promise.all(calls)
    expect(await store.exchanges.list({ partnerId: randomUUID() }, null, 100, 0)).toEqual([])
    expect(await store.exchanges.findRepeated(randomUUID(), 'key-1')).toBeNull()
  })

  test('come from these functions alone', () => {
    const others = ['create', 'takeKeyIndexes']
    expect(Object.keys(store.exchanges).sort()).toEqual([...answering, ...others].sort())
  })
})

describe('a list', () => {
  const partnerId = randomUUID()
  beforeAll(async () => {
    for (let n = 0; n < 6; n++)
      await store.exchanges.create(Array.from({ length: 100 }, () => ({ ...newExchange(), partnerId })))
  })

  test('continues where it stopped: every row once, newest first, also with many rows in one millisecond', async () => {
    const listed: ExchangeView[] = []
    let after: { createdAt: Date; id: string } | null = null
    for (;;) {
      const page: readonly ExchangeView[] = await store.exchanges.list({ partnerId }, after, 7, 0)
      listed.push(...page)
      const last = page.at(-1)?.exchange
      if (!last) break
      after = { createdAt: last.createdAt, id: last.id }
    }
    expect(listed).toHaveLength(600)
    expect(new Set(listed.map(({ exchange }) => exchange.id)).size).toBe(600)
    const order = listed.map(({ exchange }) => exchange.createdAt.getTime())
    expect(order).toEqual([...order].sort((a, b) => b - a))
    expect((await streamed(partnerId)).length).toBe(600)
  })

  test('applies its filters and shows nothing older than 24 hours', async () => {
    const other = randomUUID()
    const [recent, old] = [
      { ...newExchange(), partnerId: other },
      { ...newExchange(), partnerId: other },
    ]
    await store.exchanges.create([recent, old])
    await app.database.query('alter table exchanges disable trigger exchange_update')
    await app.database.query(
      "update exchanges set created_at = created_at - interval '24 hours 1 second' where id = $1",
      [old.id],
    )
    await app.database.query('alter table exchanges enable trigger exchange_update')
    const list = (filter: object) => store.exchanges.list({ partnerId: other, ...filter }, null, 10, 0).then(ids)
    expect(await list({})).toEqual([recent.id])
    expect(await store.exchanges.count({ partnerId: other })).toBe(1)
    expect(
      await list({
        status: 'pending',
        exchangeType: 'standard',
        fromCurrency: 'btc',
        fromNetwork: 'btc',
        toCurrency: 'eth',
        toNetwork: 'eth',
      }),
    ).toEqual([recent.id])
    for (const filter of [
      { status: 'failed' },
      { exchangeType: 'private' },
      { fromCurrency: 'eth' },
      { fromNetwork: 'eth' },
      { toCurrency: 'btc' },
      { toNetwork: 'btc' },
    ]) {
      expect(await list(filter)).toEqual([])
      expect(await store.exchanges.count({ partnerId: other, ...filter })).toBe(0)
    }
    // A status request has no time window.
    expect((await store.exchanges.find(other, old.id))?.exchange.id).toBe(old.id)
    expect(await store.exchanges.find(other, recent.id, 'private')).toBeNull()
    for (const id of ['', 'x', recent.id.toUpperCase(), `${recent.id}0`, "' or true --"])
      expect(await store.exchanges.find(other, id)).toBeNull()
  })
})
