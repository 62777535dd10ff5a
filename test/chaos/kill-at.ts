/*
 * Loaded before the server (`node --import`). Subscribes to the server's checkpoints and kills or stops the process at the n-th
 * visit of one of them. Threads also load this file but never reach a checkpoint.
 *
 *   TEST_KILL_AT    `<name>:<n>:<signal>`, SIGKILL or SIGSTOP
 *   TEST_KILLED_AT  file to which the name of the checkpoint is appended
 *
 * Also writes Node's compile cache while the process runs. Node writes it at a normal exit only, and these processes are killed.
 */
import { appendFileSync, realpathSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

/** By then the process has loaded its modules. */
const LOADED_MS = 6_000
/** Much longer than the kernel takes to deliver a signal. */
const SIGNAL_MS = 1_000

async function killAtCheckpoint(): Promise<void> {
  const main = realpathSync(process.argv[1] ?? '')
  const url = pathToFileURL(
    join(dirname(main), main.endsWith('.ts') ? 'core/services/checkpoint.ts' : 'checkpoint.js'),
  ).href
  const { onCheckpoint } = (await import(url)) as typeof import('../../server/src/core/services/checkpoint.ts')

  const file = process.env['TEST_KILLED_AT'] ?? ''
  const [target = '', nth = '1', signal = 'SIGKILL'] = (process.env['TEST_KILL_AT'] ?? '').split(':')
  let visits = 0

  onCheckpoint((name) => {
    if (name !== target || ++visits !== Number(nth)) return
    appendFileSync(file, `${name}\n`)
    process.kill(process.pid, signal)
    // The kernel may deliver the signal later. No code may run until then. A stopped process continues after SIGCONT.
    Atomics.wait(
      new Int32Array(new SharedArrayBuffer(4)),
      0,
      0,
      signal === 'SIGKILL' ? Number.POSITIVE_INFINITY : SIGNAL_MS,
    )
  })
}

setTimeout(flushCompileCache, LOADED_MS).unref()
if (isMainThread) await killAtCheckpoint()
