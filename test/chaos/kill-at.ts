/*
 * Loaded before the server (`node --import`). Subscribes to the server's checkpoints and kills the process at the n-th
 * visit of one of them. Threads also load this file but never reach a checkpoint.
 *
 *   TEST_KILL_AT    `<name>:<n>`
 *   TEST_KILLED_AT  file to which the name of the checkpoint is appended
 */
import { appendFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

async function killAtCheckpoint(): Promise<void> {
  const main = realpathSync(process.argv[1] ?? '')
  const url = pathToFileURL(join(dirname(main), 'core/services/checkpoint.ts')).href
  const { onCheckpoint } = (await import(url)) as typeof import('../../server/src/core/services/checkpoint.ts')

  const file = process.env['TEST_KILLED_AT'] ?? ''
  const [target = '', nth = '1'] = (process.env['TEST_KILL_AT'] ?? '').split(':')
  let visits = 0

  onCheckpoint((name) => {
    if (name !== target || ++visits !== Number(nth)) return
    appendFileSync(file, `${name}\n`)
    process.kill(process.pid, 'SIGKILL')
    // The kernel may deliver the signal later. No code may run until then.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
}

if (isMainThread) await killAtCheckpoint()
