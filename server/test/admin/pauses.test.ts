import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { createAdminStore } from '../../src/adapters/postgres/admin/admin-store.ts'
import type { Database } from '../../src/adapters/postgres/core/database.ts'
import { pauseActions } from '../../src/admin/actions/pause-actions.ts'
import { payeeMacs } from '../payee-macs.ts'
import { type AdminServer, type Caller, openAdminServer } from './admin-server.ts'

let server: AdminServer
let operator: Caller
beforeAll(async () => {
  server = await openAdminServer()
  operator = await server.logIn(await server.addOperator('ada@example.com', 'support'))
})
afterAll(() => server.close())

const listScopes = async () => (await server.store.store.pauses.list()).map(({ scope }) => scope)

/** A transaction that has read the pauses as a signer does, and is open until `commit`. */
async function beginSignature() {
  const mayCommit = Promise.withResolvers<void>()
  const hasRead = Promise.withResolvers<void>()
  const { store } = createAdminStore(server.test.another(1), payeeMacs)
  const signing = store.transaction(async (tx) => {
    expect(await tx.pauses.active(['all'])).toEqual([])
    hasRead.resolve()
    await mayCommit.promise
  })
  await hasRead.promise
  return async () => {
    mayCommit.resolve()
    await signing
  }
}

/** Each statement waits for a lock for at most so many milliseconds, instead of five seconds. */
const withLockTimeout = (database: Database, ms: number): Database => ({
  ...database,
  query: (text, values, name) =>
    database.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = ${ms}`)
      return tx.query(text, values, name)
    }),
})

test('M23: a pause is in force while an earlier signature is in progress, and the answer waits for that signature', async () => {
  const endSignature = await beginSignature()
  let isAnswered = false
  const pausing = operator.post('pauses/begin', { scope: 'all', reason: 'an emergency' }).finally(() => {
    isAnswered = true
  })
  try {
    // A pause that waited for the lock would have an answer, an error, before its row.
    await expect.poll(async () => isAnswered || (await listScopes()).includes('all'), PATIENCE).toBe(true)
    expect({ isAnswered, scopes: await listScopes() }).toEqual({ isAnswered: false, scopes: ['all'] })
  } finally {
    await endSignature()
  }
  const answer = await pausing
  expect(answer).toMatchObject({ status: 201, body: { result: { scope: 'all', paused: true } } })
  expect(answer.body['result']).not.toHaveProperty('warning')
  await server.store.store.pauses.resume('all')
})

test('M23: a signature that outlasts every wait for it is a warning, not an error', async () => {
  const endSignature = await beginSignature()
  try {
    const impatient = createAdminStore(withLockTimeout(server.test.another(1), 20), payeeMacs)
    expect(await pauseActions['pauses-begin'].afterCommit?.(impatient)).toEqual({
      warning: expect.stringContaining('a signature that began before the pause has not ended'),
    })
  } finally {
    await endSignature()
  }
  expect(await pauseActions['pauses-begin'].afterCommit?.(server.store)).toEqual({})
})
