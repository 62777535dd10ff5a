import { randomBytes } from 'node:crypto'
import { openDatabase } from '../src/adapters/postgres/database.ts'

export type TestDatabase = Readonly<{ url: string; drop(): Promise<void> }>

/** The cluster that `test/global-setup.ts` started for all test files. */
function clusterUrl(): string {
  // biome-ignore lint/style/noProcessEnv: set by the test run's setup, and no setting of the program
  const url = process.env['SWAPYARD_TEST_DATABASE_URL']
  if (!url)
    throw new Error('SWAPYARD_TEST_DATABASE_URL is not set: test/global-setup.ts starts the cluster and sets it')
  return url
}

/** Runs one statement that cannot stand in a transaction, on a connection of its own. */
async function runAlone(statement: string): Promise<void> {
  const database = openDatabase(clusterUrl(), {
    max: 1,
    waitMs: 30_000,
    statementTimeoutMs: 60_000,
    applicationName: 'test-setup',
  })
  try {
    await database.query(statement)
  } finally {
    await database.close()
  }
}

/** A fresh database on the shared cluster, for one test file. With a template (which nobody may be connected to) a copy of that. */
export async function createTestDatabase(template?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await runAlone(`create database ${name}${template === undefined ? '' : ` template ${template}`}`)
  const url = new URL(clusterUrl())
  url.pathname = `/${name}`
  return { url: url.toString(), drop: () => runAlone(`drop database if exists ${name} with (force)`) }
}
