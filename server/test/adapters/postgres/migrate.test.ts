import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../../test/support/database.ts'
import { until } from '../../../../test/support/until.ts'
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

describe('a migration of a table that another transaction uses', () => {
  const folder = join(import.meta.dirname, '../../../migrations')

  /** Applies the files before the first one that alters `webhook_deliveries`, which the test locks. */
  async function applyEarlier(): Promise<string> {
    await database.query(
      'create table migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    for (const name of readdirSync(folder).sort()) {
      const text = readFileSync(join(folder, name), 'utf8')
      if (text.includes('alter table webhook_deliveries')) return name
      const sha256 = createHash('sha256').update(text).digest('hex')
      await database.query(text)
      await database.query('insert into migrations (name, sha256) values ($1, $2)', [name, sha256])
    }
    throw new Error('no migration alters webhook_deliveries')
  }

  /** Holds the lock of a read until `release`. */
  async function readInTransaction(): Promise<() => Promise<void>> {
    const client = await database.pool.connect()
    await client.query('begin')
    await client.query('select 1 from webhook_deliveries')
    return async () => {
      await client.query('commit')
      client.release()
    }
  }

  test('gives up after some attempts, says what to do, and changes nothing', async () => {
    const name = await applyEarlier()
    const release = await readInTransaction()
    await expect(migrate(database, { waitMs: 50, pauseMs: 1, attemptsMax: 3 })).rejects.toThrow(
      new RegExp(`^migration ${name} was not applied: in 3 attempts it got no lock of a table.*pg_stat_activity`),
    )
    expect(await readNames()).not.toContain(name)
    await release()
    expect(await migrate(database)).toContain(name)
  })

  test('lets other statements pass between its attempts, and is applied once the table is free', async () => {
    const name = await applyEarlier()
    const release = await readInTransaction()
    const other = openDatabase(url, { max: 1, waitMs: 20_000, applicationName: 'test' })
    try {
      const migrating = migrate(other, { waitMs: 50, pauseMs: 50, attemptsMax: 100_000 })
      await until('the migration waits for the table', async () => (await readWaiting()).length > 0)
      // It waits behind the migration, which waits behind the read.
      expect(await database.query('select 1 from webhook_deliveries')).toEqual([])
      await release()
      expect(await migrating).toContain(name)
    } finally {
      await other.close()
    }
  })

  const readWaiting = () => database.query("select 1 from pg_locks where not granted and locktype = 'relation'")
})
