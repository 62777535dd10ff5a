import { appendFileSync } from 'node:fs'
import { openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { listen } from '../../src/adapters/postgres/core/listen.ts'
import { openEvents } from '../../src/app/events.ts'
import { createMetrics } from '../../src/app/metrics.ts'
import { onCheckpoint } from '../../src/core/services/checkpoint.ts'
import { createLog } from '../../src/lib/log.ts'
import { pepper, renderersOf } from './event-stage.ts'

/*
 * The event workers as a process of their own: `event-worker.ts <database URL> <checkpoint> <n> <file>`. The process kills itself at
 * the n-th visit of the checkpoint and writes its name into the file before.
 */
const [url = '', checkpoint = '', nth = '1', file = ''] = process.argv.slice(2)

let visits = 0
onCheckpoint((name) => {
  if (name !== checkpoint || ++visits !== Number(nth)) return
  appendFileSync(file, `${name}\n`)
  process.kill(process.pid, 'SIGKILL')
  // No code may run until the kernel delivers the signal.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})

const database = openDatabase(url, { max: 4, waitMs: 20_000 })
const events = openEvents(
  {
    ...{ environment: 'sandbox', pepper, metrics: createMetrics({ defaults: false }) },
    log: createLog({ level: 'silent', pretty: false }),
  },
  database,
)
await listen(
  url,
  events.onNotice(() => undefined),
  () => undefined,
)
events.startWorkers(renderersOf(database))
