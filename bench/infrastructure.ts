import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../server/src/adapters/embedded-postgres/postgres.ts'
import { createKeystore } from '../server/src/adapters/signers/keystore.ts'
import { coinTypes } from '../server/src/app/keys.ts'
import type { AppSettings } from './app.ts'
import { type Process, startProcess } from './processes.ts'
import type { ProxySettings } from './proxy.ts'
import {
  bareTableStatements,
  createDatabase,
  readPostgresVersion,
  runStatements,
  seedStatements,
} from './seed-database.ts'
import { startStubNodes } from './stub-nodes.ts'

/** A running API process, its database and the number of exchanges in it. */
export type App = Readonly<{ process: Process; databaseUrl: string; rows: number }>

type Served = Pick<AppSettings, 'chainsFile' | 'hasAdmin'>

/** What the servers under test need: a Postgres cluster in a temporary folder, stub nodes and keys. */
export type Infrastructure = Readonly<{
  folder: string
  postgresVersion: string
  createDatabase(name: string): Promise<string>
  startApp(name: string, rows: number, options?: Partial<Served>): Promise<App>
  /** A second API process on the database of an app. */
  startPeer(app: App): Promise<App>
  /** A proxy in front of a process. */
  startProxy(process: Process): Promise<Process>
  startProcess(file: string, settings: unknown): Promise<Process>
  stop(): Promise<void>
}>

export async function startInfrastructure(profileFolder: string | null): Promise<Infrastructure> {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-bench-'))
  const postgres = await startPostgres({ dataDir: folder })
  const stub = await startStubNodes()
  const keystore = join(folder, 'keystore.json')
  await createKeystore(keystore, 'a passphrase', coinTypes)
  const processes: Process[] = []
  const start = async (file: string, settings: unknown) => {
    const process = await startProcess(file, settings, {
      profileFolder,
      logFile: join(folder, `${processes.length}.log`),
    })
    processes.push(process)
    return process
  }
  const startApi = (databaseUrl: string, { chainsFile = null, hasAdmin = false }: Partial<Served> = {}) =>
    start('app.ts', { databaseUrl, keystore, nodes: stub.nodes, chainsFile, hasAdmin } satisfies AppSettings)
  return {
    folder,
    postgresVersion: await readPostgresVersion(postgres.url),
    startProcess: start,
    createDatabase: (name) => createDatabase(postgres.url, name),
    startApp: async (name, rows, options) => {
      const databaseUrl = await createDatabase(postgres.url, name)
      const process = await startApi(databaseUrl, options)
      await runStatements(databaseUrl, [...bareTableStatements, ...seedStatements(rows)])
      return { process, databaseUrl, rows }
    },
    startPeer: async (app) => ({ ...app, process: await startApi(app.databaseUrl) }),
    startProxy: (process) => start('proxy.ts', { upstreamPort: process.report('port') } satisfies ProxySettings),
    stop: async () => {
      for (const process of processes) await process.stop()
      await stub.stop()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
