import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import type { ExchangeView } from '../../../src/exchange/domain/exchange.ts'
import { createListExchanges } from '../../../src/exchange/orders/find-exchange.ts'
import { created, newExchange } from '../../exchange/money-path.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

/** What partners are answered from. A function that is added here must be held to the partner, too. */
const answering = ['find', 'findRepeated', 'list', 'count', 'countOpen'] as const

let app: TestDatabase
let store: ReturnType<typeof createStore>
const partners = [randomUUID(), randomUUID()] as const
const owner = new Map<string, string>()
const keys = new Map<string, string>()

beforeAll(async () => {
  app = await openTestDatabase()
  // One connection for everybody: what one partner left on it, the next would find.
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
  test('are the only ones that he is answered with, however the calls interleave', async () => {
    // Asked twice, by whoever it is: the second time it is kept.
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

  test('goes on where it stopped: every row once, newest first, whatever stands in one millisecond', async () => {
    const seen: ExchangeView[] = []
    let after: { createdAt: Date; id: string } | null = null
    for (;;) {
      const page: readonly ExchangeView[] = await store.exchanges.list({ partnerId }, after, 7, 0)
      seen.push(...page)
      const last = page.at(-1)?.exchange
      if (!last) break
      after = { createdAt: last.createdAt, id: last.id }
    }
    expect(seen).toHaveLength(600)
    expect(new Set(seen.map(({ exchange }) => exchange.id)).size).toBe(600)
    const order = seen.map(({ exchange }) => exchange.createdAt.getTime())
    expect(order).toEqual([...order].sort((a, b) => b - a))
    expect((await streamed(partnerId)).length).toBe(600)
  })

  test('has what its filters say, and nothing older than 24 hours', async () => {
    const other = randomUUID()
    const [kept, old] = [
      { ...newExchange(), partnerId: other },
      { ...newExchange(), partnerId: other },
    ]
    await store.exchanges.create([kept, old])
    await app.database.query('alter table exchanges disable trigger exchange_update')
    await app.database.query(
      "update exchanges set created_at = created_at - interval '24 hours 1 second' where id = $1",
      [old.id],
    )
    await app.database.query('alter table exchanges enable trigger exchange_update')
    const list = (filter: object) => store.exchanges.list({ partnerId: other, ...filter }, null, 10, 0).then(ids)
    expect(await list({})).toEqual([kept.id])
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
    ).toEqual([kept.id])
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
    // Its status is asked for without a window.
    expect((await store.exchanges.find(other, old.id))?.exchange.id).toBe(old.id)
    expect(await store.exchanges.find(other, kept.id, 'private')).toBeNull()
    for (const id of ['', 'x', kept.id.toUpperCase(), `${kept.id}0`, "' or true --"])
      expect(await store.exchanges.find(other, id)).toBeNull()
  })
})
