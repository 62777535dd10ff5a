import { startPostgres } from '../adapters/embedded-postgres/postgres.ts'
import { findRunningUrl } from '../adapters/embedded-postgres/running.ts'
import { type Database, openDatabase } from '../adapters/postgres/core/database.ts'
import { migrate } from '../adapters/postgres/core/migrate.ts'
import { prepareJobs } from '../adapters/postgres/queue/job-runner.ts'
import { requireEnvironment } from '../app/require-environment.ts'
import { type Config, loadConfig, requireNamedEnvironment } from '../config/load.ts'
import { FolderLockedError, lockFolder } from '../lib/lock.ts'
import { fail } from './print.ts'
import { adminUrl } from './target.ts'

/** A person waits longer for a connection than a request may. */
const WAIT_MS = 20_000

/**
 * Opens and migrates the configured database for one command, and closes it afterwards. The settings must be of the environment
 * to which the database belongs, except for a command that does the same in each.
 */
export async function withDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
  { inAnyEnvironment = false } = {},
): Promise<T> {
  if (adminUrl() !== null) fail('this command works on the server only: without --url and SWAPYARD_ADMIN_URL')
  const config = loadConfig()
  const embedded = config.databaseUrl === null ? await openEmbedded(config) : null
  const database = openDatabase(embedded?.url ?? config.databaseUrl ?? '', {
    max: 2,
    waitMs: WAIT_MS,
    applicationName: 'swapyard cli',
  })
  const check = async () => {
    if (inAnyEnvironment || (await requireEnvironment(database, config.environment))) return
    requireNamedEnvironment(config, 'or start the service first, which records the environment of the database')
  }
  try {
    await check()
    await migrate(database)
    await prepareJobs(database)
    // The migration may have derived the environment from the data.
    await check()
    return await work(database, config)
  } finally {
    await database.close()
    await embedded?.stop()
  }
}

/** Uses the embedded database of a running service, or starts it for this command. */
async function openEmbedded(config: Config): Promise<{ url: string; stop(): Promise<void> }> {
  try {
    return await startAlone(config)
  } catch (error) {
    const url = error instanceof FolderLockedError ? findRunningUrl(config.dataDir) : null
    if (url === null) throw error
    return { url, stop: async () => undefined }
  }
}

async function startAlone(config: Config): Promise<{ url: string; stop(): Promise<void> }> {
  const lock = lockFolder(config.dataDir)
  try {
    const postgres = await startPostgres({ dataDir: config.dataDir })
    const stop = async () => {
      await postgres.stop()
      lock.release()
    }
    return { url: postgres.url, stop }
  } catch (error) {
    lock.release()
    throw error
  }
}
