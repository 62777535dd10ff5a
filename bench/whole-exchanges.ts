import { startMemoryApp } from '../test/support/memory-app.ts'
import { serve, settingsOf } from './processes.ts'

/** One worker with two chains in memory, alone in its process: takes exchanges from their creation until each is paid. */
export type WholeExchangesSettings = Readonly<{ databaseUrl: string; count: number }>
export type WholeExchanges = Readonly<{ perSecond: number; commits: number; walBytes: number }>

const { databaseUrl, count } = settingsOf<WholeExchangesSettings>()
const memory = await startMemoryApp({ databaseUrl })
await memory.run(Math.ceil(count / 10))
const before = await counters()
const { seconds } = await memory.run(count)
const after = await counters()
serve(
  {
    perSecond: count / seconds,
    commits: (after.commits - before.commits) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
  } satisfies WholeExchanges,
  memory.stop,
)

/** Of the whole cluster: nothing else runs on it meanwhile. A transaction takes a number when it first writes. */
async function counters(): Promise<{ commits: number; walBytes: number }> {
  const [row] = await memory.app.database.query<{ commits: string; wal: string }>(
    `select pg_snapshot_xmax(pg_current_snapshot())::text as commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal`,
  )
  return { commits: Number(row?.commits), walBytes: Number(row?.wal) }
}
