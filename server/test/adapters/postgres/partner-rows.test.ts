import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIdempotencyStore } from '../../../src/adapters/postgres/core/idempotency.ts'
import { createWebhookStore } from '../../../src/adapters/postgres/events/webhooks.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createBuiltApprovals } from '../../../src/adapters/postgres/swap/approvals.ts'
import { createFeeAccounts } from '../../../src/adapters/postgres/swap/fee-accounts.ts'
import { createSwapStore } from '../../../src/adapters/postgres/swap/swaps.ts'
import type { Partner } from '../../../src/core/domain/partner.ts'
import { statusOf } from '../../../src/core/http/errors.ts'
import { createManageWebhooks } from '../../../src/events/manage-webhooks.ts'
import type { ExchangeView } from '../../../src/exchange/domain/exchange.ts'
import type { ExchangeFilter } from '../../../src/exchange/interfaces.ts'
import { createListExchanges } from '../../../src/exchange/orders/find-exchange.ts'
import type { NewSwap } from '../../../src/swap/ports/store/swaps.ts'
import { makeNewExchange, requireCreated } from '../../exchange/money-path.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

/** Store functions that answer a partner. A function that is added here must filter by partner. */
const answering = ['find', 'findRepeated', 'list', 'count', 'countOpen', 'report'] as const

const LEASE_MS = 60_000

let app: TestDatabase
let store: ReturnType<typeof createStore>
const partners = [randomUUID(), randomUUID()] as const
const owner = new Map<string, string>()
const keys = new Map<string, string>()

beforeAll(async () => {
  app = await openTestDatabase()
  // One connection for all partners, so that state left on it by one would affect the next.
  store = createStore(app.another(1), payeeMacs)
  for (const partnerId of partners) {
    for (let n = 0; n < 30; n++) {
      const idempotency = { key: `key-${n}`, requestHash: partnerId }
      const exchange = requireCreated(
        (await store.exchanges.create([{ ...makeNewExchange({ idempotency }), partnerId }]))[0],
      )
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
        calls.push(
          store.exchanges
            .report({ partnerId, from: null, to: null }, null, 100)
            .then((views) => expect(ids(views)).toEqual(of(partnerId))),
        )
        calls.push(streamed(partnerId).then((views) => expect(ids(views)).toEqual(of(partnerId))))
      }
    }
    await Promise.all(calls)
    expect(await store.exchanges.list({ partnerId: randomUUID() }, null, 100, 0)).toEqual([])
    expect(await store.exchanges.findRepeated(randomUUID(), 'key-1')).toBeNull()
  })

  test('come from these functions alone', () => {
    // `cancel`, `expire` and `nameRefund` answer no row; their services find the partner's exchange first.
    const others = ['cancel', 'create', 'expire', 'nameRefund', 'newestKeyIndex', 'takeKeyIndexes']
    expect(Object.keys(store.exchanges).sort()).toEqual([...answering, ...others].sort())
  })
})

describe('a list', () => {
  const partnerId = randomUUID()
  beforeAll(async () => {
    for (let n = 0; n < 6; n++)
      await store.exchanges.create(Array.from({ length: 100 }, () => ({ ...makeNewExchange(), partnerId })))
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
      { ...makeNewExchange(), partnerId: other },
      { ...makeNewExchange(), partnerId: other },
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
    const others: readonly ExchangeFilter[] = [
      { status: 'failed' },
      { exchangeType: 'private' },
      { fromCurrency: 'eth' },
      { fromNetwork: 'eth' },
      { toCurrency: 'btc' },
      { toNetwork: 'btc' },
    ]
    for (const filter of others) {
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

describe('swap rows of a partner (I-20)', () => {
  const SWAPS_OF_EACH = 20
  const owners = [
    { id: randomUUID(), name: 'swaps of one', feeAddress: '0xfe01' },
    { id: randomUUID(), name: 'swaps of another', feeAddress: '0xfe02' },
  ] as const
  const key = 'the key of both'
  /** Both partners swap the same tokens on the same network for the same account. */
  const newSwap = (partnerId: string, hash: string): NewSwap => ({
    ...{ id: randomUUID(), partnerId, network: 'eth', hash, sender: '0x11', nonce: 1, recipient: '0x11' },
    ...{ from: { token: '0x22', decimals: 6, units: 10n }, to: { token: '0x33', decimals: 18, units: 1_000n } },
    ...{ minReceived: 900n, feePpm: 0, feeTo: '0x44', owesFee: false, raw: null, externalId: null, ref: '' },
    expiry: { by: 'time', at: 2_000_000_000 },
  })
  const approvalOf = (partnerId: string, units: bigint) => {
    return { partnerId, network: 'eth', account: '0x11', token: '0x22', units }
  }
  const hashOf = (owner: number, n: number) => `0x${owner}${n}`
  let database: ReturnType<TestDatabase['another']>
  let swaps: ReturnType<typeof createSwapStore>

  beforeAll(async () => {
    database = app.another(1)
    swaps = createSwapStore(database)
    for (const [at, { id, name, feeAddress }] of owners.entries()) {
      await database.query('insert into partners (id, name) values ($1, $2)', [id, name])
      await createFeeAccounts(database).setAddress(name, 'eth', feeAddress)
      await createBuiltApprovals(database).save(approvalOf(id, BigInt(1 + at)))
      const [idempotency, claim] = [createIdempotencyStore(database), { partnerId: id, key, id }]
      expect(await idempotency.claim(claim, id, LEASE_MS)).toBe('claimed')
      expect(await idempotency.save({ claim, response: name })).toBe(name)
      for (let n = 0; n < SWAPS_OF_EACH; n++)
        expect(await swaps.record(newSwap(id, hashOf(at, n)))).toMatchObject({ swap: { partnerId: id } })
    }
  })

  test('are the only rows in its responses', async () => {
    for (const [at, { id }] of owners.entries()) {
      const listed = await swaps.list({ partnerId: id }, null, 100, 0)
      expect(listed.map(({ hash }) => hash).sort()).toEqual(
        Array.from({ length: SWAPS_OF_EACH }, (_, n) => hashOf(at, n)).sort(),
      )
      expect(await swaps.list({ partnerId: id, network: 'eth', tokensIn: ['0x22'] }, null, 100, 0)).toEqual(listed)
      expect(await swaps.count({ partnerId: id })).toBe(SWAPS_OF_EACH)
      expect((await swaps.findByHash(id, 'eth', hashOf(at, 3)))?.hash).toBe(hashOf(at, 3))
      expect(await swaps.findByHash(id, 'eth', hashOf(1 - at, 3))).toBeNull()
      const [own, foreign] = [hashOf(at, 3), hashOf(1 - at, 3)]
      const reported = await swaps.findReported(id, { hashes: [own] })
      expect(reported).toMatchObject({ hash: own })
      expect(await swaps.findReported(id, { hashes: [foreign] })).toBeNull()
      expect(await swaps.findReported(owners[1 - at]?.id ?? '', { id: reported?.id ?? '' })).toBeNull()
    }
    expect(await swaps.list({ partnerId: randomUUID() }, null, 100, 0)).toEqual([])
    expect(await swaps.count({ partnerId: randomUUID() })).toBe(0)
  })

  test('are not taken over by a partner that reports the same transaction', async () => {
    const [one, other] = owners
    const before = await swaps.findByHash(other.id, 'eth', hashOf(1, 3))
    expect(await swaps.record(newSwap(one.id, hashOf(1, 3)))).toBeNull()
    expect(await swaps.findByHash(other.id, 'eth', hashOf(1, 3))).toEqual(before)
    expect(await swaps.count({ partnerId: one.id })).toBe(SWAPS_OF_EACH)
  })

  test('are its own approvals, stored responses and fee addresses', async () => {
    const [approvals, idempotency] = [createBuiltApprovals(database), createIdempotencyStore(database)]
    for (const [at, { id, name, feeAddress }] of owners.entries()) {
      expect(await approvals.has(approvalOf(id, BigInt(1 + at)))).toBe(true)
      expect(await approvals.has(approvalOf(id, BigInt(2 - at)))).toBe(false)
      // The first response stays, and it is this partner's.
      const second = { partnerId: id, key, id: randomUUID() }
      expect(await idempotency.claim(second, 'other', LEASE_MS)).toEqual({ requestHash: id, response: name })
      expect(await idempotency.save({ claim: second, response: 'other' })).toBeNull()
      expect(await createFeeAccounts(database).findAddress(id, 'eth')).toBe(feeAddress)
    }
    const other = { partnerId: randomUUID(), key, id: randomUUID() }
    expect(await idempotency.claim(other, 'other', LEASE_MS)).toBe('claimed')
    expect(await createFeeAccounts(database).findAddress(randomUUID(), 'eth')).toBeNull()
    expect(await createFeeAccounts(database).listAddresses(randomUUID())).toEqual([])
  })

  test('come from these functions alone', () => {
    const answersPartners = ['count', 'findByHash', 'findReported', 'list', 'record']
    // The tracker's: their ids come from our own jobs.
    const tracking = ['advance', 'find']
    expect(Object.keys(swaps).sort()).toEqual([...answersPartners, ...tracking].sort())
    expect(Object.keys(createBuiltApprovals(database)).sort()).toEqual(['has', 'save'])
    expect(Object.keys(createIdempotencyStore(database)).sort()).toEqual(['claim', 'release', 'renew', 'save'])
    const operator = ['findDecimals', 'listDecimals', 'listHeldFees', 'setAddress']
    // `requestAddress` answers no row.
    const own = ['findAddress', 'listAddresses', 'requestAddress']
    expect(Object.keys(createFeeAccounts(database)).sort()).toEqual([...own, ...operator].sort())
  })
})

describe('webhook rows of a partner (I-20)', () => {
  const [owner, stranger] = [randomUUID(), randomUUID()]
  const webhookId = randomUUID()
  let webhooks: ReturnType<typeof createWebhookStore>
  let deliveryId: string

  const countDeliveries = async () => (await app.database.query('select 1 from webhook_deliveries')).length

  beforeAll(async () => {
    webhooks = createWebhookStore(app.database)
    for (const id of [owner, stranger])
      await app.database.query('insert into partners (id, name) values ($1, $2)', [id, `webhooks of ${id}`])
    const added = {
      id: webhookId,
      partnerId: owner,
      url: 'https://partner.example',
      events: [],
      secret: Buffer.from('secret'),
    }
    await webhooks.add(added, 20, () => null)
    const [row] = await app.database.query<{ id: string }>(
      `with event as (insert into partner_events (partner_id, kind, subject_id, type) values ($1, 'exchange', $2, 'exchange.pending')
         returning id, subject_id)
       insert into webhook_deliveries (webhook_id, event_id, subject_id) select $3, id, subject_id from event returning id`,
      [owner, randomUUID(), webhookId],
    )
    deliveryId = row?.id ?? ''
    await app.database.query(
      "update webhook_deliveries set state = 'delivered', delivered_at = clock_timestamp(), next_attempt_at = null",
    )
  })

  test('are in the answers of no other partner, although its id of the webhook is right', async () => {
    const kept: unknown[] = []
    const keep = (delivery: unknown) => {
      kept.push(delivery)
      return null
    }
    expect(await webhooks.list(stranger)).toEqual([])
    expect(await webhooks.find(stranger, webhookId)).toBeNull()
    expect(await webhooks.deliveries(stranger, webhookId, null, 10)).toEqual([])
    expect(await webhooks.redeliver(stranger, webhookId, deliveryId, keep)).toBeNull()
    expect([kept, await countDeliveries()]).toEqual([[], 1])

    expect(await webhooks.deliveries(owner, webhookId, null, 10)).toMatchObject([
      { id: deliveryId, state: 'delivered' },
    ])
    expect(await webhooks.redeliver(owner, webhookId, deliveryId, keep)).toMatchObject({ state: 'pending' })
    // The operator acts for any partner.
    expect(await webhooks.redeliver(null, webhookId, deliveryId, keep)).toMatchObject({ state: 'pending' })
    expect([kept.length, await countDeliveries()]).toEqual([2, 3])
  })

  test('get no test event for another partner or while the webhook is disabled', async () => {
    const countTests = async () =>
      (await app.database.query("select 1 from partner_events where type = 'webhook.test'")).length
    const kept: unknown[] = []
    const keep = (eventId: unknown) => {
      kept.push(eventId)
      return null
    }
    expect(await webhooks.addTest({ id: webhookId, partnerId: stranger }, keep)).toBeNull()
    await webhooks.setDisabled(owner, webhookId, 'partner')
    expect(await webhooks.addTest({ id: webhookId, partnerId: owner }, keep)).toBeNull()
    expect([kept, await countTests()]).toEqual([[], 0])
    await webhooks.setDisabled(owner, webhookId, null)
    const eventId = await webhooks.addTest({ id: webhookId, partnerId: owner }, keep)
    expect([kept, await countTests()]).toEqual([[eventId], 1])
  })

  test('are not found by the service without its check of the owner', async () => {
    const unchecked = { ...webhooks, find: (_partnerId: string, id: string) => webhooks.find(owner, id) }
    const secrets = { seal: () => Buffer.alloc(0), open: () => '' }
    const http = { findProblem: async () => null }
    const service = createManageWebhooks({ webhooks: unchecked, http, secrets })
    const partner = { id: stranger } as Partner
    const before = await countDeliveries()
    const failure = await service.redeliver(partner, webhookId, deliveryId).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'DELIVERY_NOT_FOUND' })
    expect(statusOf('DELIVERY_NOT_FOUND')).toBe(404)
    expect(await service.deliveries(partner, webhookId, null, 10)).toEqual([])
    expect(await countDeliveries()).toBe(before)
  })

  test('come from these functions alone', () => {
    const answersPartners = ['add', 'addTest', 'deliveries', 'find', 'list', 'redeliver']
    // Without a row.
    const others = ['remove', 'rotate', 'setDisabled']
    expect(Object.keys(webhooks).sort()).toEqual([...answersPartners, ...others].sort())
  })
})
