import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../server/src/adapters/embedded/postgres.ts'
import { createTemplate } from './support/database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    chainsFile: string
    databaseUrl: string
    /** A database of that cluster with the program's schema. */
    databaseTemplate: string
  }
}

const START_MS = 90_000

/** One cluster and one set of chains for the whole run; every test file makes its own database and its own house on them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-test-'))
  const [postgres, chains] = await Promise.all([startPostgres({ dataDir: folder }), startChains(folder)])
  project.provide('databaseUrl', postgres.url)
  project.provide('databaseTemplate', await createTemplate(postgres.url))
  project.provide('chainsFile', chains.file)
  return async () => {
    await chains.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startChains(folder: string): Promise<{ file: string; stop(): Promise<void> }> {
  const main = join(import.meta.dirname, '../sandbox/src/main.ts')
  const child = spawn(
    process.execPath,
    [main, '--data-dir', folder, '--networks', 'all', '--parent', String(process.pid)],
    // Its traders would move the pools under the tests, which bring the prices that they need.
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, SWAPYARD_SANDBOX_STILL: '1' } },
  )
  child.stdout.resume()
  const file = join(folder, 'chains.json')
  const deadline = Date.now() + START_MS
  while (!existsSync(file)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('the sandbox chains did not start')
    await delay(100)
  }
  JSON.parse(readFileSync(file, 'utf8'))
  return {
    file,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}
