import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { createIdempotencyStore } from '../../src/adapters/postgres/core/idempotency.ts'
import { createHttpServer, type HttpServer } from '../../src/app/http.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import { apiDefaults } from '../../src/core/http/settings.ts'
import type { IdempotencyStore } from '../../src/core/ports/store/idempotency.ts'
import { createWithIdempotency } from '../../src/core/services/with-idempotency.ts'
import { createLog } from '../../src/lib/log.ts'
import { createServicesInMemory } from '../core/http/services-in-memory.ts'
import { type EventStage, openEventStage } from './event-stage.ts'

let stage: EventStage
let partner: Partner
let closing: (() => Promise<unknown>)[]
beforeEach(async () => {
  stage = await openEventStage()
  partner = await stage.addPartner()
  closing = []
})
afterEach(async () => {
  for (const close of closing) await close()
  await stage.close()
})

/** An API process with connections of its own. `change` is what differs in its store of responses. */
function startApi(change: (store: IdempotencyStore) => Partial<IdempotencyStore> = () => ({})): HttpServer {
  const database = openDatabase(stage.url, { max: 4, waitMs: 20_000 })
  const store = createIdempotencyStore(database)
  const inMemory = createServicesInMemory()
  const app = createHttpServer({
    services: {
      ...inMemory,
      authenticate: async (...request) => ({ ...(await inMemory.authenticate(...request)), partner }),
      events: stage.openAnother().services,
      withIdempotency: createWithIdempotency({ ...store, ...change(store) }),
    },
    log: createLog({ level: 'silent', pretty: false }),
    metrics: { observeRequest: () => undefined, render: async () => '', contentType: 'text/plain' },
    settings: { ...apiDefaults, overload: null, publicUrl: 'http://127.0.0.1:8080' },
  })
  closing.push(async () => {
    await app.close()
    await database.close()
  })
  return app
}

async function post(app: HttpServer, key: string, path = '', payload?: object) {
  const { statusCode, body } = await app.inject({
    ...{ method: 'POST', url: `/v1/webhooks${path}`, headers: { 'x-api-key': 'sandbox', 'idempotency-key': key } },
    ...(payload === undefined ? {} : { payload }),
  })
  return { status: statusCode, body: JSON.parse(body) as Record<string, string> }
}
const create = (app: HttpServer, key: string) => post(app, key, '', { url: 'http://127.0.0.1:9/hook' })
const readRows = () =>
  stage.database.query<{ id: string; secret: Buffer; previous: Buffer | null }>(
    'select id, secret, previous_secret as previous from webhooks',
  )
const countEvents = async () => (await stage.database.query('select 1 from partner_events')).length

test('concurrent creates with one key in two processes make one webhook, whose secret all answers have', async () => {
  const apps = [startApi(), startApi()]
  const answers = await Promise.all([0, 1, 2, 3, 4, 5].flatMap(() => apps.map((app) => create(app, 'a key'))))
  expect(answers[0]).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_/) } })
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect((await readRows()).map(({ id }) => id)).toEqual([answers[0]?.body['id']])
})

test('concurrent rotations with one key in two processes replace the secret once: the old one still signs', async () => {
  const apps = [startApi(), startApi()]
  const [app] = apps
  const created = await create(app as HttpServer, 'a create')
  const [before] = await readRows()
  const path = `/${created.body['id']}/rotate`
  const answers = await Promise.all([0, 1, 2, 3, 4, 5].flatMap(() => apps.map((one) => post(one, 'a rotation', path))))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  expect(new Set(answers.map(({ body }) => body['secret'])).size).toBe(1)
  expect((await readRows())[0]?.previous).toEqual(before?.secret)
})

test('a crash between an act and its response leaves both or none: a repeat has the answer of the act', async () => {
  const healthy = startApi()
  // A process that ends after the act, before it stores the response and ends its claim.
  const crashed = () => Promise.reject(new Error('the process has ended'))
  const crashing = startApi(() => ({ save: crashed, release: crashed }))
  expect((await create(crashing, 'a create')).status).toBe(500)
  const created = await create(healthy, 'a create')
  expect(created.status).toBe(201)
  const [row, ...others] = await readRows()
  expect([row?.id, others]).toEqual([created.body['id'], []])

  const path = `/${created.body['id']}`
  expect((await post(crashing, 'a rotation', `${path}/rotate`)).status).toBe(500)
  expect((await post(healthy, 'a rotation', `${path}/rotate`)).status).toBe(201)
  expect((await readRows())[0]?.previous).toEqual(row?.secret)

  expect((await post(crashing, 'a test', `${path}/test`)).status).toBe(500)
  expect((await post(healthy, 'a test', `${path}/test`)).status).toBe(201)
  expect(await countEvents()).toBe(1)
})

test('an attempt that lost its claim changes nothing', async () => {
  // Its lease ended before the act, and another attempt acts.
  const late = startApi((store) => ({
    claim: async (claim, requestHash, leaseMs) => {
      const outcome = await store.claim(claim, requestHash, leaseMs)
      await stage.database.query('update kept_answers set claim_id = $1', [randomUUID()])
      return outcome
    },
  }))
  expect(await create(late, 'a key')).toMatchObject({ status: 503, body: { code: 'OVERLOADED' } })
  expect(await readRows()).toEqual([])
})
