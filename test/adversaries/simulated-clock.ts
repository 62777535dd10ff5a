import { inject } from 'vitest'
import { type Database, openDatabase } from '../../server/src/adapters/postgres/core/database.ts'
import { migrate } from '../../server/src/adapters/postgres/core/migrate.ts'
import { prepareJobs } from '../../server/src/adapters/postgres/queue/job-runner.ts'
import type { TestDatabase } from '../../server/test/adapters/postgres/database.ts'
import { createDatabase } from '../support/database.ts'

export type SimulatedDatabase = TestDatabase & Readonly<{ setTime(ms: number): Promise<void> }>

const CLOCKS = ['now', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp']

/**
 * A database of the program with a clock of its own. The schema `simulated` has functions with the names of Postgres's clocks
 * and stands before `pg_catalog` in the search path, so that the program's statements, triggers and column defaults read the
 * simulated time, unchanged. The functions are there before the program's tables, because a default keeps the function that
 * its name meant at its creation.
 */
export async function openSimulatedDatabase(startMs: number): Promise<SimulatedDatabase> {
  const { url, drop } = await createDatabase(process.env['SWAPYARD_TEST_DATABASE_URL'] ?? inject('databaseUrl'))
  const pools: Database[] = []
  const another = (max: number): Database => {
    const pool = openDatabase(url, { max, waitMs: 20_000, applicationName: 'simulation' })
    pools.push(pool)
    return pool
  }
  await createClock(another(1), startMs)
  const database = another(10)
  await migrate(database)
  await prepareJobs(database)
  return {
    database,
    another,
    setTime: async (ms) => void (await database.query('update simulated.clock set at = $1', [new Date(ms)])),
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()))
      await drop()
    },
  }
}

/** Connections that are opened afterwards read this clock. */
async function createClock(database: Database, startMs: number): Promise<void> {
  const [row] = await database.query<{ name: string }>('select current_database() as name')
  await database.query('create schema simulated')
  await database.query('create table simulated.clock (at timestamptz not null)')
  await database.query('insert into simulated.clock values ($1)', [new Date(startMs)])
  for (const name of CLOCKS)
    await database.query(
      `create function simulated.${name}() returns timestamptz language sql stable as 'select at from simulated.clock'`,
    )
  await database.query(`alter database ${row?.name} set search_path = public, simulated, pg_catalog`)
}
