import { expect, test } from 'vitest'
import { AppError } from '../../server/src/core/domain/errors.ts'
import type { Scenario } from '../support/scenario.ts'
import { runExchanges } from './run-exchanges.ts'

/** A scenario whose waits look once, and whose test has this connection. */
const createScenario = (query: () => Promise<object[]>) =>
  ({
    database: { query },
    app: { database: { query: () => Promise.reject(new Error('a connection of the app under test')) } },
    until: async (_what: string, find: () => Promise<unknown>) => expect(await find()).toBe(true),
  }) as unknown as Scenario

test('the wait for the exchanges uses the connections of the test, and none of the app', async () => {
  expect(
    await runExchanges(
      createScenario(async () => [{ status: 'finished', count: 0 }]),
      [],
    ),
  ).toEqual([])
})

test('an overloaded database ends the wait for the exchanges', async () => {
  const refused = new AppError('OVERLOADED', 'the database does not answer now')
  await expect(
    runExchanges(
      createScenario(() => Promise.reject(refused)),
      [],
    ),
  ).rejects.toBe(refused)
})
