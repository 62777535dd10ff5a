import { toServiceSettings } from '../server/src/app/configured-app.ts'
import { loadConfig } from '../server/src/config/load.ts'
import { startMemoryApp } from '../test/support/memory-app.ts'
import { readSettings, serve } from './processes.ts'

/** API and worker with two in-memory chains in one process, and the default limits. It runs exchanges from creation to payment. */
export type WholeExchangesSettings = Readonly<{ databaseUrl: string; count: number; dataDir: string }>
export type WholeExchanges = Readonly<{ perSecond: number; commits: number; walBytes: number }>

const { databaseUrl, count, dataDir } = readSettings<WholeExchangesSettings>()
const memory = await startMemoryApp({
  databaseUrl,
  settings: toServiceSettings(loadConfig({ SWAPYARD_DATA_DIR: dataDir })),
})
await memory.run(Math.ceil(count / 10))
const before = await readCounters()
const { seconds } = await memory.run(count)
const after = await readCounters()
serve(
  {
    perSecond: count / seconds,
    commits: (after.commits - before.commits) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
  } satisfies WholeExchanges,
  memory.stop,
)

/**
 * Counters of the Postgres cluster, on which nothing else runs meanwhile. The transaction id counter counts only transactions that
 * write.
 */
async function readCounters(): Promise<{ commits: number; walBytes: number }> {
  const [row] = await memory.app.database.query<{ commits: string; wal: string }>(
    `select pg_snapshot_xmax(pg_current_snapshot())::text as commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal`,
  )
  return { commits: Number(row?.commits), walBytes: Number(row?.wal) }
}
