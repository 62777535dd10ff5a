import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildOutdated } from '../scripts/build.mjs'
import { startPostgres } from '../server/src/adapters/embedded-postgres/postgres.ts'
import { isBuildServer } from './support/build-server.ts'
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
  const clusterFolder = mkdtempSync(join(clusterParent(), 'swapyard-test-cluster-'))
  const [postgres, chains] = await Promise.all([
    startPostgres({ dataDir: clusterFolder }),
    withoutChains ? NO_CHAINS : startChains(folder, 'all'),
  ])
  turnOffDurability(join(clusterFolder, 'postgres', 'cluster'))
  project.provide('databaseUrl', postgres.url)
  project.provide('databaseTemplate', await createTemplate(postgres.url))
  project.provide('chainsFile', chains.file)
  return async () => {
    await chains.stop()
    await postgres.stop()
    for (const one of [folder, clusterFolder]) rmSync(one, { recursive: true, force: true })
  }
}

/** The file system in memory of Linux. */
const IN_MEMORY = '/dev/shm'
const FREE_BYTES_MIN = 8 * 1024 ** 3

/**
 * Memory on a build server, if enough is free. A test's database is about a thousand files, and ext4 looks at every inode that it
 * deleted in the last minutes before it takes another one: a tenth of the processor time of tests with databases. Elsewhere a
 * folder that a killed run leaves behind must not keep memory.
 */
function clusterParent(): string {
  if (!isBuildServer || !existsSync(IN_MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  return bavail * bsize >= FREE_BYTES_MIN ? IN_MEMORY : tmpdir()
}

/**
 * The data need not survive a crash of the machine, because the cluster is deleted after the run. Whole pages are written to the log
 * after each checkpoint, and each test's database begins and ends with some.
 */
function turnOffDurability(cluster: string): void {
  const settings = join(cluster, 'postgresql.auto.conf')
  const safe = readFileSync(settings, 'utf8')
  writeFileSync(settings, safe.replaceAll(/^(fsync|full_page_writes) = on$/gm, '$1 = off'))
  const [pid = ''] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n', 1)
  process.kill(Number.parseInt(pid, 10), 'SIGHUP')
}
