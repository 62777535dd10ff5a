import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { privacyFlags } from '../scripts/heap.mjs'

// M27.9: the seed stays in the memory of a worker.
test.each([
  ['opens with the defaults of Node', [], true],
  ['does not open with the flags of the server', privacyFlags, false],
])('M27.9: a debugger that a signal asks for %s', async (_what, flags, isOpened) => {
  const script = "process.stdout.write('up'); setTimeout(() => process.exit(), 1_500)"
  const child = spawn(process.execPath, [...flags, '--inspect-port=0', '-e', script])
  const errors = text(child.stderr)
  await once(child.stdout, 'data')
  child.kill('SIGUSR1')
  await once(child, 'exit')
  expect((await errors).includes('Debugger listening')).toBe(isOpened)
})
