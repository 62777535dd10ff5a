import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import type { Store } from '../../src/exchange/ports/store/store.ts'
import { type AdminServer, type Caller, openAdminServer } from './admin-server.ts'

// What `swapyard signer release` and `swapyard resume payouts:all` end, if payouts are paused for two reasons.
const SCOPE = 'payouts:all'
const reason = 'compared with the chains'

let server: AdminServer
let store: Store
let asker: Caller
let approver: Caller
beforeAll(async () => {
  server = await openAdminServer()
  store = createStore(server.test.database)
  asker = await server.logIn(await server.addOperator('ada@example.com', 'treasurer'))
  approver = await server.logIn(await server.addOperator('bob@example.com', 'treasurer'))
})
afterAll(() => server.close())
beforeEach(async () => {
  for (const { scope } of await store.pauses.list()) await store.pauses.resume(scope)
  await store.alarms.clear('database:older')
})

const carryOut = async (act: string, given: object = {}) => {
  const asked = await asker.post(act, { ...given, reason })
  expect(asked.body).toMatchObject({ state: 'asked' })
  return (await approver.post('requests/approve', { id: asked.body['requestId'] })).body['result']
}
const raiseHold = () => store.alarms.raise('database:older', 'payouts are paused', {})

test('the release of the hold ends the pause of the signing journals, and their alarms', async () => {
  await raiseHold()
  await store.pauses.pause(SCOPE, 'database and signing journal differ', 'signer')
  const result = await carryOut('signer/release')
  expect(result).toMatchObject({ released: true })
  expect(result).not.toHaveProperty('stillPaused')
  expect(await store.pauses.list()).toEqual([])
  expect(await store.alarms.list(10)).toEqual([])
})

test('the release of the hold keeps pauses for other reasons, and says how to end them', async () => {
  await raiseHold()
  await store.pauses.pause(SCOPE, 'the ledger is inconsistent', 'reconciler')
  await store.pauses.pause('all', 'restore', 'operator:ada@example.com')
  await store.pauses.pause('partner:acme', 'asked to', 'operator:ada@example.com')
  const next = (scope: string) => expect.stringMatching(`swapyard alarms.*swapyard resume ${scope}`)
  expect(await carryOut('signer/release')).toMatchObject({
    released: true,
    stillPaused: [
      { scope: 'all', reason: 'restore', next: next('all') },
      { scope: SCOPE, reason: 'the ledger is inconsistent', next: next(SCOPE) },
    ],
  })
  expect(await store.pauses.list()).toContainEqual({ scope: SCOPE, reason: 'the ledger is inconsistent' })
  expect(await store.alarms.list(10)).toEqual([])
})

test('the end of a pause for another reason keeps the hold of the signing journals', async () => {
  await raiseHold()
  await store.pauses.pause(SCOPE, 'the ledger is inconsistent', 'reconciler')
  expect(await carryOut('pauses/end', { scope: SCOPE })).toMatchObject({
    paused: true,
    next: expect.stringContaining('swapyard signer release'),
  })
  expect(await store.pauses.list()).toEqual([{ scope: SCOPE, reason: 'database and signing journal differ' }])
  const { body } = await asker.post('pauses/end', { scope: SCOPE, reason })
  expect(body).toMatchObject({ message: expect.stringContaining('swapyard signer release ends that') })
  expect(await store.pauses.list()).toHaveLength(1)
})
