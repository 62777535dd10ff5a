import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../server/test/adapters/postgres/database.ts'
import { createTableReader } from './tables.ts'

let opened: TestDatabase
beforeAll(async () => {
  opened = await openTestDatabase()
  await opened.database.query("insert into pauses (scope, reason, actor) values ('quotes', 'a test', 'test')")
})
afterAll(() => opened.close())

test.each([
  ['an insert', "insert into pauses (scope, reason, actor) values ('creates', 'a test', 'test')"],
  ['an update with the same values', 'update pauses set reason = reason'],
  ['a delete', "delete from pauses where scope = 'creates'"],
])('%s changes the contents of its table alone', async (_name, statement) => {
  const read = await createTableReader(opened.database)
  const before = await read()
  expect(await read()).toEqual(before)
  await opened.database.query(statement)
  const after = await read()
  const changed = Object.keys(after).filter((table) => JSON.stringify(after[table]) !== JSON.stringify(before[table]))
  expect(changed).toEqual(['public.pauses'])
})

test('an insert that is rolled back changes nothing', async () => {
  const read = await createTableReader(opened.database)
  const before = await read()
  const failed = opened.database.transaction(async (tx) => {
    await tx.query("insert into pauses (scope, reason, actor) values ('creates', 'a test', 'test')")
    throw new Error('rolled back')
  })
  await expect(failed).rejects.toThrow('rolled back')
  expect(await read()).toEqual(before)
})
