import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../test/support/database.ts'
import { until } from '../../../test/support/until.ts'
import { type Database, openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { migrate } from '../../src/adapters/postgres/core/migrate.ts'
import { createThrottle } from '../../src/adapters/postgres/core/throttle.ts'
import type { ThrottleVerdict } from '../../src/core/ports/throttle.ts'

let database: Database
let drop: () => Promise<void>
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  const created = await createDatabase(inject('databaseUrl'))
  drop = created.drop
  database = openDatabase(created.url, { max: 4, waitMs: 10_000 })
  await migrate(database)
})
afterAll(async () => {
  for (const close of closers) await close()
  await database.close()
  await drop()
})

/** 20 s into a minute, so that no minute ends during a test. */
const NOON = Date.UTC(2030, 0, 1, 12, 0, 20)

function openThrottle(clock: { now: number } = { now: NOON }, errors: unknown[] = []) {
  const throttle = createThrottle({ database, now: () => clock.now, onError: (error) => errors.push(error) })
  closers.push(throttle.close)
  return (key: string, cost: number, limit: number) => throttle.take(key, cost, limit) as ThrottleVerdict
}

describe('minute budget', () => {
  test('deducts the cost of a request, and rejects a request that exceeds the rest', () => {
    const take = openThrottle()
    expect(take('a', 50, 100)).toEqual({ allowed: true, limit: 100, remaining: 50, resetSeconds: 40 })
    expect(take('a', 51, 100)).toMatchObject({ allowed: false, remaining: 50 })
    expect(take('a', 50, 100)).toMatchObject({ allowed: true, remaining: 0 })
    expect(take('a', 1, 100)).toMatchObject({ allowed: false, remaining: 0 })
    expect(take('b', 1, 100)).toMatchObject({ allowed: true, remaining: 99 })
  })

  test('resets in the next minute', () => {
    const clock = { now: NOON }
    const take = openThrottle(clock)
    expect(take('minute', 100, 100).allowed).toBe(true)
    clock.now += 39_999
    expect(take('minute', 1, 100)).toMatchObject({ allowed: false, resetSeconds: 1 })
    clock.now += 1
    expect(take('minute', 1, 100)).toMatchObject({ allowed: true, remaining: 99, resetSeconds: 60 })
  })

  test('is shared by all processes', async () => {
    const [one, two] = [openThrottle(), openThrottle()]
    for (let n = 0; n < 60; n++) expect(one('shared', 1, 100).allowed).toBe(true)
    // A process receives the counts of the others when it sends its own.
    await until('the second process has the count of the first', () => two('shared', 1, 1_000).remaining < 1_000 - 60)
    let allowed = 0
    for (let n = 0; n < 100; n++) if (two('shared', 1, 100).allowed) allowed++
    expect(allowed).toBeLessThan(40)
    await until('the first process has the count of the second', () => !one('shared', 1, 100).allowed)
  })

  test('is exceeded by at most one budget before two processes exchange their counts', async () => {
    const [one, two] = [openThrottle(), openThrottle()]
    let allowed = 0
    for (let n = 0; n < 200; n++) for (const take of [one, two]) if (take('burst', 1, 100).allowed) allowed++
    expect(allowed).toBeLessThanOrEqual(200)
    expect(allowed).toBeGreaterThanOrEqual(100)
    await until('the first process has the sum of both counts', () => one('burst', 1, 300).remaining < 100)
    expect(one('burst', 1, 100).allowed).toBe(false)
    expect(two('burst', 1, 100).allowed).toBe(false)
  })

  test('M27.10: of one caller is not reset by many others', () => {
    const take = openThrottle()
    // 50 000 counts are kept. One more cleared all of them, and every caller got a new budget.
    for (let n = 0; n < 49_999; n++) take(`other ${n}`, 1, 100)
    expect(take('spent', 100, 100).remaining).toBe(0)
    expect(take('one more', 1, 100).allowed).toBe(true)
    expect(take('spent', 1, 100).allowed).toBe(false)
  })

  test('counts in memory while the database is unavailable', async () => {
    const errors: unknown[] = []
    const created = await createDatabase(inject('databaseUrl'))
    const unmigrated = openDatabase(created.url, { max: 1, waitMs: 500 })
    const throttle = createThrottle({ database: unmigrated, now: () => NOON, onError: (error) => errors.push(error) })
    const take = (cost: number) => throttle.take('away', cost, 10) as ThrottleVerdict
    expect(take(6).allowed).toBe(true)
    await until('the missing table is reported', () => errors.length > 0)
    expect(take(6).allowed).toBe(false)
    expect(take(4).allowed).toBe(true)
    await throttle.close()
    await unmigrated.close()
    await created.drop()
  })
})
