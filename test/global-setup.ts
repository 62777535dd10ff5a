import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildOutdated } from '../scripts/build.mjs'
import { startPostgres } from '../server/src/adapters/embedded-postgres/postgres.ts'
import { startChains } from './support/chains.ts'
import { createTemplate } from './support/database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    chainsFile: string
    databaseUrl: string
    /** Name of a database in that cluster with the program's schema. */
    databaseTemplate: string
  }
}

/** Without chains, tests that need only Postgres start some twenty seconds sooner. */
const withoutChains = process.env['TEST_CHAINS'] === 'off'
const NO_CHAINS = { file: '', stop: async () => {} }

/** Starts one cluster and one set of chains for the whole run. Every test file creates its own database and app on them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildOutdated(join(import.meta.dirname, '..'), process.execPath)
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-test-'))
  const [postgres, chains] = await Promise.all([
    startPostgres({ dataDir: folder }),
    withoutChains ? NO_CHAINS : startChains(folder, 'all'),
  ])
  turnOffFsync(join(folder, 'postgres', 'cluster'))
  project.provide('databaseUrl', postgres.url)
  project.provide('databaseTemplate', await createTemplate(postgres.url))
  project.provide('chainsFile', chains.file)
  return async () => {
    await chains.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The data need not survive a crash of the machine, because the cluster is deleted after the run. */
function turnOffFsync(cluster: string): void {
  const settings = join(cluster, 'postgresql.auto.conf')
  writeFileSync(settings, readFileSync(settings, 'utf8').replace('fsync = on', 'fsync = off'))
  const [pid = ''] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n', 1)
  process.kill(Number.parseInt(pid, 10), 'SIGHUP')
}
