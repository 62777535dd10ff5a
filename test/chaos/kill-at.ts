/*
 * Loaded before the server (`node --import`): counts the visits of the named points in the same module that the server
 * tells of them, and kills the process at the n-th visit of one. The server knows nothing of it.
 *
 *   TEST_POINTS   file that gets the name of each point at its first visit, and a last line `killed <name>`
 *   TEST_KILL_AT  `<name>:<n>`
 */
import { appendFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Checkpoint } from '../../server/src/lib/checkpoint.ts'

const main = realpathSync(process.argv[1] ?? '')
const url = pathToFileURL(join(dirname(main), 'lib/checkpoint.ts')).href
const { onCheckpoint } = (await import(url)) as typeof import('../../server/src/lib/checkpoint.ts')

const file = process.env['TEST_POINTS'] ?? ''
const [target = '', nth = '1'] = (process.env['TEST_KILL_AT'] ?? '').split(':')
const visits = new Map<Checkpoint, number>()

onCheckpoint((name) => {
  const count = (visits.get(name) ?? 0) + 1
  visits.set(name, count)
  if (count === 1) appendFileSync(file, `${name}\n`)
  if (name !== target || count !== Number(nth)) return
  appendFileSync(file, `killed ${name}\n`)
  process.kill(process.pid, 'SIGKILL')
  // The signal is delivered when the kernel pleases: nothing may run until then.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})
