import { inject } from 'vitest'
import { type Database, openDatabase, type Sql } from '../../server/src/adapters/postgres/core/database.ts'
import { migrate } from '../../server/src/adapters/postgres/core/migrate.ts'
import { prepareJobs } from '../../server/src/adapters/postgres/queue/job-runner.ts'
import type { TestDatabase } from '../../server/test/adapters/postgres/database.ts'
import { createDatabase } from '../support/database.ts'

export type SimulatedDatabase = TestDatabase & Readonly<{ setTime(ms: number): Promise<void> }>

const CLOCKS = ['now', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp']

/** The schema and the clock, which every simulation copies: that takes a tenth of the time of all migrations. */
export type SimulatedTemplate = Readonly<{ open(startMs: number): Promise<SimulatedDatabase>; drop(): Promise<void> }>

/**
 * Databases of the program with a clock of their own. The schema `simulated` has functions with the names of Postgres's clocks
 * and stands before `pg_catalog` in the search path, so that the program's statements, triggers and column defaults read the
 * simulated time, unchanged. The functions are there before the program's tables, because a default keeps the function that
 * its name meant at its creation.
 */
export async function prepareSimulatedDatabases(): Promise<SimulatedTemplate> {
  const cluster = process.env['SWAPYARD_TEST_DATABASE_URL'] ?? inject('databaseUrl')
  const template = await createDatabase(cluster)
  await withDatabase(template.url, createClock)
  await withDatabase(template.url, async (database) => {
    await migrate(database)
    await prepareJobs(database)
  })
  return { open: (startMs) => openCopy(cluster, template.url, startMs), drop: template.drop }
}

async function openCopy(cluster: string, templateUrl: string, startMs: number): Promise<SimulatedDatabase> {
  const { url, drop } = await createDatabase(cluster, new URL(templateUrl).pathname.slice(1))
  // A setting of the database is not copied.
  await withDatabase(url, readClockFirst)
  const pools: Database[] = []
  const another = (max: number): Database => {
    const pool = prepareStatements(openDatabase(url, { max, waitMs: 20_000, applicationName: 'simulation' }))
    pools.push(pool)
    return pool
  }
  const database = another(10)
  const setTime = async (ms: number) =>
    void (await database.query('update simulated.clock set at = $1', [new Date(ms)]))
  await setTime(startMs)
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.close()))
    await drop()
  }
  return { url, database, another, setTime, close }
}

const PREPARED = /^\s*(select|insert|update|delete|with|\()/
/** By the text of the statement. */
const statementNames = new Map<string, string>()

/**
 * Prepares every statement once per connection, under a name of the simulation if the program gives it none: a simulated day
 * repeats each some hundred times, and the server parses and plans it longer than it executes it.
 */
function prepareStatements(database: Database): Database {
  const prepared =
    (sql: Sql): Sql['query'] =>
    (text, values, name) =>
      sql.query(text, values, name ?? (PREPARED.test(text) ? nameOf(text) : undefined))
  return {
    ...database,
    query: prepared(database),
    transaction: (work, options) => database.transaction((tx) => work({ ...tx, query: prepared(tx) }), options),
  }
}

function nameOf(text: string): string {
  const name = statementNames.get(text) ?? `simulated-${statementNames.size}`
  statementNames.set(text, name)
  return name
}

async function withDatabase(url: string, use: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase(url, { max: 1, waitMs: 20_000, applicationName: 'simulation' })
  try {
    await use(database)
  } finally {
    await database.close()
  }
}

async function createClock(database: Database): Promise<void> {
  await database.query('create schema simulated')
  await database.query('create table simulated.clock (at timestamptz not null)')
  await database.query('insert into simulated.clock values (now())')
  for (const name of CLOCKS)
    await database.query(
      `create function simulated.${name}() returns timestamptz language sql stable as 'select at from simulated.clock'`,
    )
  await readClockFirst(database)
}

/** Connections that are opened afterwards read the simulated clock, and plan each statement once. */
async function readClockFirst(database: Database): Promise<void> {
  const [row] = await database.query<{ name: string }>('select current_database() as name')
  await database.query(`alter database ${row?.name} set search_path = public, simulated, pg_catalog`)
  // A plan for the values of one call takes longer than the statement.
  await database.query(`alter database ${row?.name} set plan_cache_mode = force_generic_plan`)
}
