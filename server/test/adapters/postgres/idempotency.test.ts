import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createIdempotencyStore } from '../../../src/adapters/postgres/core/idempotency.ts'
import type { Partner } from '../../../src/core/domain/partner.ts'
import type { IdempotencyStore } from '../../../src/core/ports/store/idempotency.ts'
import { createWithIdempotency } from '../../../src/core/services/with-idempotency.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

const LEASE_MS = 60_000

let app: TestDatabase
let stores: readonly [IdempotencyStore, IdempotencyStore]
beforeAll(async () => {
  app = await openTestDatabase()
  stores = [createIdempotencyStore(app.database), createIdempotencyStore(app.another(2))]
})
afterAll(() => app.close())

const partner: Partner = {
  ...{ id: randomUUID(), name: 'acme', feeBps: 0, suspended: false, openExchangesMax: 10, rateLimitPerMinute: 100 },
  ...{ strict: false, refundToSender: false, defaultRecipients: new Map() },
}
const makeRequest = () => ({ key: randomUUID(), requestHash: 'a body' })
const claimOf = (key: string) => ({ partnerId: partner.id, key, id: randomUUID() })
/** As if the time of the lease had passed. */
const endLease = (key: string) =>
  app.database.query('update kept_answers set claimed_until = clock_timestamp() where key = $1', [key])

/** Two processes; `waitMs` is the longest wait for another attempt. */
const processes = (waitMs?: number) => stores.map((store) => createWithIdempotency(store, waitMs))

test('an act runs once for concurrent requests with one key, and all get its response (I-21)', async () => {
  const request = makeRequest()
  let acts = 0
  const act = async () => `response ${++acts}`
  const run = processes()
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => run[n % 2]?.(partner, request, act)))
  expect(answers).toEqual(answers.map(() => 'response 1'))
  expect(acts).toBe(1)
})

test('a request whose key is in use for too long is refused for now, and a failure frees the key', async () => {
  const request = makeRequest()
  const [first, second] = processes(0)
  let fail: (error: Error) => void = () => undefined
  let begun: () => void = () => undefined
  const isRunning = new Promise<void>((resolve) => {
    begun = resolve
  })
  const running = first?.(partner, request, () => {
    begun()
    return new Promise<string>((_, reject) => {
      fail = reject
    })
  })
  await isRunning
  await expect(second?.(partner, request, async () => 'second')).rejects.toMatchObject({
    code: 'OVERLOADED',
    retryAfterSeconds: 2,
  })
  fail(new Error('refused'))
  await expect(running).rejects.toThrow('refused')
  expect(await second?.(partner, { ...request, requestHash: 'another body' }, async () => 'second')).toBe('second')
})

test('a repeat takes the key of a crashed process when its lease ends, and not before', async () => {
  const request = makeRequest()
  const claim = claimOf(request.key)
  const [run] = processes(0)
  expect(await stores[0].claim(claim, request.requestHash, LEASE_MS)).toBe('claimed')
  await expect(run?.(partner, request, async () => 'again')).rejects.toMatchObject({ code: 'OVERLOADED' })
  await endLease(request.key)
  await stores[0].renew(claim, LEASE_MS)
  await expect(run?.(partner, request, async () => 'again')).rejects.toMatchObject({ code: 'OVERLOADED' })
  await endLease(request.key)
  expect(await run?.(partner, request, async () => 'again')).toBe('again')
  // What the first process stores later does not replace the response.
  expect(await stores[0].save({ claim, response: '"late"' })).toBeNull()
  await stores[0].release(claim)
  expect(await run?.(partner, request, async () => 'third')).toBe('again')
})
