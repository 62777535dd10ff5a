import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { privacyFlags } from '../scripts/heap.mjs'
import { PATIENCE_MS } from './support/patience.ts'

/** Whether the kernel delivers SIGUSR1, which is signal 10 on Linux, to a handler of the process (proc_pid_status(5)). */
function catchesDebuggerSignal(pid: number | undefined): boolean {
  const [, mask = ''] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return ((BigInt(`0x${mask}`) >> 9n) & 1n) === 1n
}

// M27.9: the seed stays in the memory of a worker.
test.runIf(process.platform === 'linux').each([
  ['opens with the defaults of Node', [], true],
  ['does not open with the flags of the server', privacyFlags, false],
])('M27.9: a debugger that a signal asks for %s', async (_what, flags, isOpened) => {
  const script = `process.stdout.write('up'); setTimeout(() => process.exit(), ${PATIENCE_MS})`
  const child = spawn(process.execPath, [...flags, '--inspect-port=0', '-e', script])
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    if (errors.includes('Debugger listening')) child.kill()
  })
  await once(child.stdout, 'data')
  expect(catchesDebuggerSignal(child.pid)).toBe(isOpened)
  child.kill('SIGUSR1')
  // Node ignores the signal where it has no handler for it.
  if (!isOpened) child.kill()
  await once(child, 'close')
  expect(errors.includes('Debugger listening')).toBe(isOpened)
})

test(
  'M27.9: the server and its command line run with these flags',
  async () => {
    // Each process that starts prints its flags.
    const report = 'data:text/javascript,console.error(process.argv[1],process.execArgv.join(" "))'
    const run = join(import.meta.dirname, '../scripts/run.mjs')
    const child = spawn(process.execPath, [run, 'swapyard', '--version'], {
      env: { ...process.env, NODE_OPTIONS: `--import=${encodeURI(report)}` },
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    await once(child, 'close')
    const [started] = errors.split('\n').filter((line) => line.includes('server/dist/main.js'))
    for (const flag of privacyFlags) expect(started).toContain(flag)
  },
  PATIENCE_MS,
)
