import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../server/src/adapters/embedded/postgres.ts'
import { startChains } from './support/chains.ts'
import { createTemplate } from './support/database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    chainsFile: string
    databaseUrl: string
    /** A database of that cluster with the program's schema. */
    databaseTemplate: string
  }
}

/** One cluster and one set of chains for the whole run; every test file makes its own database and its own house on them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-test-'))
  const [postgres, chains] = await Promise.all([startPostgres({ dataDir: folder }), startChains(folder, 'all')])
  project.provide('databaseUrl', postgres.url)
  project.provide('databaseTemplate', await createTemplate(postgres.url))
  project.provide('chainsFile', chains.file)
  return async () => {
    await chains.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
