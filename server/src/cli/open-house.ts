import { startPostgres } from '../adapters/embedded/postgres.ts'
import { type Database, openDatabase } from '../adapters/postgres/database.ts'
import { prepareJobs } from '../adapters/postgres/job-runner.ts'
import { migrate } from '../adapters/postgres/migrate.ts'
import { loadConfig } from '../config.ts'
import type { Config } from '../config.ts'
import { lockFolder } from '../lib/lock.ts'

/** Opens the database of the settings for one command, migrated, and closes it after. */
export async function withDatabase<T>(work: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig()
  const embedded = config.databaseUrl === null ? await openEmbedded(config) : null
  const database = openDatabase(embedded?.url ?? config.databaseUrl ?? '', { max: 2, applicationName: 'swapyard cli' })
  try {
    await migrate(database)
    await prepareJobs(database)
    return await work(database, config)
  } finally {
    await database.close()
    await embedded?.stop()
  }
}

/** The embedded database belongs to the process that runs; a command of its own needs the folder to itself. */
async function openEmbedded(config: Config) {
  const lock = lockFolder(config.dataDir)
  const postgres = await startPostgres({ dataDir: config.dataDir }).catch((error: unknown) => {
    lock.release()
    throw error
  })
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop()
      lock.release()
    },
  }
}
