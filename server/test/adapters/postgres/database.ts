import { inject } from 'vitest'
import { createDatabase } from '../../../../test/support/database.ts'
import { type Database, openDatabase } from '../../../src/adapters/postgres/core/database.ts'
import { migrate } from '../../../src/adapters/postgres/core/migrate.ts'
import { prepareJobs } from '../../../src/adapters/postgres/queue/job-runner.ts'

/** On the cluster of the test run, or on a cluster of the developer, which has no template. */
function createOne() {
  const own = process.env['SWAPYARD_TEST_DATABASE_URL']
  return own ? createDatabase(own) : createDatabase(inject('databaseUrl'), inject('databaseTemplate'))
}

export type TestDatabase = Readonly<{
  url: string
  database: Database
  /** Another pool on the same database, like that of another process. */
  another(max: number): Database
  close(): Promise<void>
}>

/** A fresh database with the schema of the program, and a pool on it. */
export async function openTestDatabase(max = 10): Promise<TestDatabase> {
  const { url, drop } = await createOne()
  const pools: Database[] = []
  const another = (most: number): Database => {
    const pool = openDatabase(url, { max: most, waitMs: 20_000, applicationName: 'test' })
    pools.push(pool)
    return pool
  }
  const database = another(max)
  await migrate(database)
  await prepareJobs(database)
  const close = async (): Promise<void> => {
    await Promise.all(pools.map((pool) => pool.close()))
    await drop()
  }
  return { url, database, another, close }
}
