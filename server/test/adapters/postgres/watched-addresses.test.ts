import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Sql } from '../../../src/adapters/postgres/core/database.ts'
import { createWatchedAddresses } from '../../../src/adapters/postgres/exchange/watched-addresses.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { type OpenTransaction, openTransaction } from './open-transaction.ts'

/*
 * What no scan may miss is an address that is committed. The hard cases: transactions that end in another order than they
 * began, and a table that is not the one that was read.
 */
let app: TestDatabase
beforeAll(async () => {
  app = await openTestDatabase(20)
  await app.database.query('alter table deposit_targets drop constraint deposit_targets_exchange_id_fkey')
})
afterAll(() => app.close())
beforeEach(() => app.database.query('truncate deposit_targets cascade'))

const insert = (sql: Sql, ...addresses: readonly string[]) =>
  sql.query(
    `insert into deposit_targets (exchange_id, leg, network, address, key_index)
     select gen_random_uuid(), 0, 'btc', a, 0 from unnest($1::text[]) a`,
    [addresses],
  )

function watch() {
  const watched = createWatchedAddresses()
  return (...addresses: readonly string[]) =>
    app.database.transaction((tx) => watched.among(tx, 'btc', ['a stranger', ...addresses]))
}

test('those that were there, and those that come', async () => {
  await insert(app.database, 'one', 'two')
  const among = watch()
  expect(await among('one', 'three', 'two')).toEqual(['one', 'two'])
  await insert(app.database, 'three')
  expect(await among('one', 'three', 'two')).toEqual(['one', 'three', 'two'])
})

test('of a first load in many pieces none is lost', async () => {
  const many = Array.from({ length: 45_000 }, (_, n) => `address ${n}`)
  await insert(app.database, ...many)
  expect(await watch()(...many)).toEqual(many)
})

test('one whose transaction began long before others, and ends after them', async () => {
  const among = watch()
  const slow = await openTransaction(app.database)
  await insert(slow.sql, 'slow')
  const slower = await openTransaction(app.database)
  // It has its number, and writes later.
  await slower.sql.query('select pg_current_xact_id()')
  for (const name of ['a', 'b', 'c']) {
    await insert(app.database, name)
    expect(await among('slow', 'slower', name)).toEqual([name])
  }
  await slow.end(true)
  expect(await among('slow', 'slower')).toEqual(['slow'])
  await insert(slower.sql, 'slower')
  await insert(app.database, 'd')
  expect(await among('slow', 'slower', 'd')).toEqual(['slow', 'd'])
  await slower.end(true)
  expect(await among('slow', 'slower')).toEqual(['slow', 'slower'])
})

test('whatever the order in which transactions begin, write and end', async () => {
  const among = watch()
  const step = fc.record({ who: fc.nat(4), act: fc.constantFrom('write', 'commit', 'roll back', 'ask') })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const running = new Map<number, OpenTransaction & { written: string[] }>()
      const committed: string[] = []
      for (const { who, act } of [...steps, { who: 0, act: 'ask' }]) {
        const one = running.get(who)
        if (act === 'write') {
          const writer = one ?? { ...(await openTransaction(app.database)), written: [] }
          running.set(who, writer)
          const address = randomUUID()
          await insert(writer.sql, address)
          writer.written.push(address)
        } else if (act === 'ask') {
          expect(await among(...committed)).toEqual(committed)
        } else if (one) {
          running.delete(who)
          await one.end(act === 'commit')
          if (act === 'commit') committed.push(...one.written)
        }
      }
      for (const { end } of running.values()) await end(false)
    }),
    { numRuns: 60 },
  )
})

test('what a question learned stays, though its own transaction is rolled back', async () => {
  const watched = createWatchedAddresses()
  await insert(app.database, 'one')
  const asking = await openTransaction(app.database)
  expect(await watched.among(asking.sql, 'btc', ['one'])).toEqual(['one'])
  await insert(app.database, 'two')
  expect(await watched.among(asking.sql, 'btc', ['one', 'two'])).toEqual(['one', 'two'])
  await asking.end(false)
  expect(await app.database.transaction((tx) => watched.among(tx, 'btc', ['one', 'two']))).toEqual(['one', 'two'])
})

test('a table that was filled from a dump, with numbers of the past and of the future', async () => {
  const among = watch()
  await insert(app.database, 'one')
  expect(await among('one')).toEqual(['one'])
  await app.database.query('truncate deposit_targets cascade')
  await app.database.query(
    `insert into deposit_targets (exchange_id, leg, network, address, key_index, created_by)
     values (gen_random_uuid(), 0, 'btc', 'old', 0, '3'), (gen_random_uuid(), 0, 'btc', 'new', 0, '9000000000')`,
  )
  expect(await among('old', 'new')).toEqual(['old', 'new'])
  await insert(app.database, 'two')
  expect(await among('old', 'two')).toEqual(['old', 'two'])
})
