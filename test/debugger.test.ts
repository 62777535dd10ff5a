import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { privacyFlags } from '../scripts/heap.mjs'
import { PATIENCE_MS } from './support/patience.ts'

// M27.9: the seed stays in the memory of a worker.
test.each([
  ['opens with the defaults of Node', [], true],
  ['does not open with the flags of the server', privacyFlags, false],
])('M27.9: a debugger that a signal asks for %s', async (_what, flags, isOpened) => {
  // A process that opens a debugger runs until the test has read that. An ignored signal leaves nothing to wait for, so the
  // other one runs for a fixed time; on a machine that needs longer to open a debugger, only a fault would be missed.
  const script = `process.stdout.write('up'); setTimeout(() => process.exit(), ${isOpened ? PATIENCE_MS : 1_500})`
  const child = spawn(process.execPath, [...flags, '--inspect-port=0', '-e', script])
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    if (errors.includes('Debugger listening')) child.kill()
  })
  await once(child.stdout, 'data')
  child.kill('SIGUSR1')
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
    const [started] = errors.split('\n').filter((line) => line.includes('main.ts'))
    for (const flag of privacyFlags) expect(started).toContain(flag)
  },
  PATIENCE_MS,
)
