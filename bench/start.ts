import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../lib/src/find-program.ts'
import { freePort } from '../lib/src/free-port.ts'
import { until } from '../lib/src/until.ts'
import type { Result } from './results.ts'

/*
 * Seconds from the command of `npm start` to 200 at /health/ready, once the packages are installed. The first start of a folder
 * creates the database and the chains; later starts continue them.
 */
const FIRST_GOAL_S = 15
const LATER_GOAL_S = 5
const TIMEOUT_MS = 180_000
const POLL_MS = 100
const root = join(import.meta.dirname, '..')

export async function benchStart(print: (line: string) => void): Promise<Result[]> {
  const path = process.env['PATH'] ?? ''
  const results = await measureStarts('nothing but Node', '')
  if (['litecoind', 'monerod', 'monero-wallet-rpc'].every((program) => findProgram(program, path) !== null))
    results.push(...(await measureStarts('litecoind and monerod', path)))
  else print('start: litecoind or monero is not installed, so the starts with them are not measured')
  return results
}

/** `path`: where the program looks for chain nodes. */
async function measureStarts(machine: string, path: string): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-bench-start-'))
  try {
    const first = await measureStart(folder, path)
    const later = await measureStart(folder, path)
    return [
      {
        name: `first \`npm start\`, with ${machine}`,
        figures: [{ value: first, unit: 's', goal: { below: FIRST_GOAL_S } }],
      },
      {
        name: `later \`npm start\`, with ${machine}`,
        figures: [{ value: later, unit: 's', goal: { below: LATER_GOAL_S } }],
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureStart(folder: string, path: string): Promise<number> {
  const port = await freePort()
  const startedAt = performance.now()
  const program = spawn(process.execPath, ['scripts/run.mjs', 'start'], {
    cwd: root,
    env: { HOME: folder, PATH: path, PORT: String(port), SWAPYARD_DATA_DIR: join(folder, 'data') },
    stdio: 'ignore',
  })
  try {
    await until('the program is ready', () => isReady(program, port), { timeoutMs: TIMEOUT_MS, intervalMs: POLL_MS })
    return (performance.now() - startedAt) / 1000
  } finally {
    program.kill('SIGTERM')
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit')
  }
}

async function isReady(program: ChildProcess, port: number): Promise<boolean> {
  if (program.exitCode !== null) throw new Error(`npm start exited with code ${program.exitCode}`)
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null)
  return answer?.status === 200
}
