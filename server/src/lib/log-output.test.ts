import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PATIENCE_MS } from '../../../test/support/patience.ts'

/** Writes 160 MB of lines and then reports on the third descriptor that it still runs, and its memory. */
const program = `
const { createLog } = await import(${JSON.stringify(join(import.meta.dirname, 'log.ts'))})
const { writeSync } = await import('node:fs')
const log = createLog({ level: 'info', pretty: false })
for (let n = 0; n < 200; n++) {
  for (let line = 0; line < 10; line++) log.info({ text: 'x'.repeat(80_000) }, 'a line')
  await new Promise((resolve) => setTimeout(resolve, 1))
}
writeSync(3, String(Math.round(process.memoryUsage.rss() / 2 ** 20)))
process.exit(0)`
const RSS_MB_MAX = 250

function startProgram(output: number | 'pipe') {
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', output, 'pipe', 'pipe'] })
}

async function readReport(child: ReturnType<typeof startProgram>): Promise<number> {
  const report = child.stdio[3]
  if (!report || !('read' in report)) throw new Error('the program has no third descriptor')
  const [text] = await once(report, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) })
  return Number(text)
}

test('F26: a full disk behind standard output neither stops nor keeps the process', async () => {
  const child = startProgram(openSync('/dev/full', 'w'))
  try {
    expect(await readReport(child)).toBeLessThan(RSS_MB_MAX)
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) })
    expect(code).toBe(0)
  } finally {
    child.kill('SIGKILL')
  }
})

test('F26: a reader of standard output that stopped does not stop the process', async () => {
  const child = startProgram('pipe')
  try {
    // The pipe is never read. Node would read it once a listener is added.
    expect(await readReport(child)).toBeLessThan(RSS_MB_MAX)
  } finally {
    child.kill('SIGKILL')
  }
})
