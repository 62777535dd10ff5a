import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../../test/support/database.ts'
import { type Database, openDatabase } from '../../../src/adapters/postgres/core/database.ts'
import { migrate } from '../../../src/adapters/postgres/core/migrate.ts'

let url: string
let database: Database
let drop: () => Promise<void>
beforeEach(async () => {
  const empty = await createDatabase(process.env['SWAPYARD_TEST_DATABASE_URL'] ?? inject('databaseUrl'))
  url = empty.url
  drop = empty.drop
  database = openDatabase(url, { max: 2, waitMs: 20_000, applicationName: 'test' })
})
afterEach(async () => {
  await database.close()
  await drop()
})

const readNames = async () =>
  (await database.query<{ name: string }>('select name from migrations order by name')).map(({ name }) => name)

describe('migrate', () => {
  test('applies every file in order, and none twice', async () => {
    const applied = await migrate(database)
    expect(applied[0]).toBe('0001_core.sql')
    expect(applied).toEqual([...applied].sort())
    expect(await readNames()).toEqual(applied)
    expect(await migrate(database)).toEqual([])
  })

  test('applies each file once if two processes start at the same time', async () => {
    const other = openDatabase(url, { max: 2, waitMs: 20_000, applicationName: 'test' })
    try {
      const applied = (await Promise.all([migrate(database), migrate(other)])).flat()
      expect([...applied].sort()).toEqual(await readNames())
    } finally {
      await other.close()
    }
  })

  test('refuses a database of another schema history, says what to do, and changes nothing', async () => {
    await database.query(
      'create table migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    await database.query("insert into migrations (name, sha256) values ('0001_first.sql', 'a'), ('0076_last.sql', 'b')")
    await database.query('create table exchanges (id uuid primary key)')
    await expect(migrate(database)).rejects.toThrow(
      /created by an earlier version.*0001_first\.sql.*start with a new data folder \(SWAPYARD_DATA_DIR\) or an empty database \(DATABASE_URL\)/s,
    )
    expect(await readNames()).toEqual(['0001_first.sql', '0076_last.sql'])
    const tables = await database.query("select 1 from pg_tables where schemaname = 'public'")
    expect(tables).toHaveLength(2)
  })

  test('refuses a database whose applied file has changed since, and names the file', async () => {
    await migrate(database)
    await database.query("update migrations set sha256 = 'other' where name = '0003_ledger.sql'")
    const error = await migrate(database).catch((cause: unknown) => cause)
    // An InvariantError would be printed with its stack.
    expect(error).toMatchObject({ name: 'Error', message: expect.stringContaining('0003_ledger.sql differs') })
  })

  test('accepts migrations of a later version, so that old processes run during an upgrade', async () => {
    await migrate(database)
    await database.query("insert into migrations (name, sha256) values ('9999_later.sql', 'c')")
    expect(await migrate(database)).toEqual([])
  })
})
