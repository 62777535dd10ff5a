import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../lib/src/free-port.ts'
import { buildOutdated } from '../scripts/build.mjs'
import { createKeystore, exportPublicKeys } from '../server/src/adapters/signers/keystore.ts'
import { openAddresses } from '../server/src/app/addresses.ts'
import { coinTypes } from '../server/src/app/keys.ts'
import type { BareRoutesSettings } from './bare-routes.ts'
import { type DatabaseUrls, startDatabases } from './databases.ts'
import type { Nodes, NodesSettings } from './nodes.ts'
import { type Process, startProcess, startProgram } from './processes.ts'
import type { ProxySettings } from './proxy.ts'
import { PEPPER, runStatements, seedPartner, seedStatements } from './seed-database.ts'
import { creditWallets, listHoldings } from './wallets.ts'

/**
 * A running API process of the program, its database, the number of exchanges in it, the worker beside it (null: none), and a process
 * with the bare routes that its answers are compared with.
 */
export type App = Readonly<{
  process: Process
  worker: Process | null
  bareRoutes: Process
  urls: DatabaseUrls
  rows: number
  stop(): Promise<void>
}>

type AppOptions = Readonly<{
  /** Seeds further rows before the processes start. */
  seed?(urls: DatabaseUrls): Promise<void>
  /** False: no worker runs beside the API. */
  hasWorker?: boolean
  /** Serves the admin API too, which is off by default. */
  hasAdmin?: boolean
  /** The `chains.json` of sandbox chains: the processes run as the sandbox, without a worker. */
  chainsFile?: string
}>

/** What the servers under test need: Postgres, nodes, price sources and keys. */
export type Infrastructure = Readonly<{
  folder: string
  postgresVersion: string
  createDatabase(name: string): Promise<DatabaseUrls>
  startApp(name: string, rows: number, options?: AppOptions): Promise<App>
  /** A second API process on the database of an app. */
  startPeer(app: App): Promise<Process>
  /** A proxy in front of a process. */
  startProxy(process: Process): Promise<Process>
  startProcess(file: string, settings: unknown): Promise<Process>
  stop(): Promise<void>
}>

const PASSPHRASE = 'a passphrase of the benchmarks'
/** The admin API needs an https URL in production. TLS would end at a proxy. */
const PUBLIC_URL = 'https://exchange.example'

export async function startInfrastructure(profileFolder: string | null): Promise<Infrastructure> {
  await buildOutdated(join(import.meta.dirname, '..'), process.execPath)
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-bench-'))
  const databases = await startDatabases(folder)
  const processes: Process[] = []
  const outputs = () => ({ profileFolder, logFile: join(folder, `${processes.length}.log`) })
  const added = (process: Process) => {
    processes.push(process)
    return process
  }
  const start = async (file: string, settings: unknown) => added(await startProcess(file, settings, outputs()))
  const keys = await createKeys(folder)
  let nodes: Promise<Nodes> | null = null
  let nodesProcess: Process | null = null
  const startNodes = async () => {
    const file = join(folder, 'nodes.json')
    nodesProcess = await start('nodes.ts', { file, hot: hotAddresses(keys.publicFile) } satisfies NodesSettings)
    return JSON.parse(readFileSync(file, 'utf8')) as Nodes
  }
  const runProgram = async (role: 'api' | 'worker', databaseUrl: string, { chainsFile, hasAdmin }: AppOptions) => {
    const port = await freePort()
    const dataDir = join(folder, `data-${port}`)
    const environment =
      chainsFile === undefined
        ? { SWAPYARD_CONFIG: writeConfig(folder, (await nodes)?.config ?? {}, hasAdmin ?? false) }
        : { SWAPYARD_CHAINS: chainsFile }
    mkdirSync(dataDir)
    const env = {
      ...{ HOME: folder, DATABASE_URL: databaseUrl, SWAPYARD_DATA_DIR: dataDir, SWAPYARD_PEPPER: PEPPER },
      ...environment,
      ...(role === 'api'
        ? { PORT: String(port), SWAPYARD_KEYSTORE: keys.publicFile, SWAPYARD_TRUST_PROXY: '1' }
        : {
            SWAPYARD_WORKER_PORT: String(port),
            SWAPYARD_KEYSTORE: keys.file,
            SWAPYARD_KEYSTORE_PASSPHRASE: PASSPHRASE,
          }),
      ...(hasAdmin ? { SWAPYARD_PUBLIC_URL: PUBLIC_URL } : {}),
    }
    const args = ['--role', role, ...(chainsFile === undefined ? [] : ['--sandbox'])]
    // The sandbox's chains of swaps have no funds.
    const readyPath = chainsFile === undefined ? '/health/ready' : '/health/live'
    return added(await startProgram({ args, env, port, readyPath }, outputs()))
  }
  return {
    folder,
    postgresVersion: databases.postgresVersion,
    startProcess: start,
    createDatabase: databases.create,
    startApp: async (name, rows, options = {}) => {
      const { seed, hasWorker = true, chainsFile } = options
      const urls = await databases.create(name)
      await seedPartner(urls.owner)
      await runStatements(urls.owner, seedStatements(rows))
      await seed?.(urls)
      if (chainsFile === undefined) {
        nodes ??= startNodes()
        const { networks, coin } = await nodes
        await creditWallets(urls.owner, await listHoldings(networks), coin)
      }
      const isWatched = hasWorker && chainsFile === undefined
      const worker = isWatched ? await runProgram('worker', urls.worker, options) : null
      const process = await runProgram('api', urls.api, options)
      const bareRoutes = await start('bare-routes.ts', { databaseUrl: urls.api } satisfies BareRoutesSettings)
      await databases.waitUntilCalm(name)
      const stop = async () => {
        await Promise.all([process, worker, bareRoutes].map((one) => one?.stop()))
      }
      return { process, worker, bareRoutes, urls, rows, stop }
    },
    startPeer: (app) => runProgram('api', app.urls.api, {}),
    startProxy: (process) => start('proxy.ts', { upstreamPort: process.report('port') } satisfies ProxySettings),
    stop: async () => {
      await Promise.all(processes.filter((process) => process !== nodesProcess).map((process) => process.stop()))
      await nodesProcess?.stop()
      await databases.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function createKeys(folder: string): Promise<Readonly<{ file: string; publicFile: string }>> {
  const file = join(folder, 'keystore.json')
  const publicFile = join(folder, 'public.json')
  await createKeystore(file, PASSPHRASE, coinTypes)
  await exportPublicKeys(file, publicFile)
  return { file, publicFile }
}

const hotAddresses = (file: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...openAddresses({ environment: 'production', keystore: { file } })].map(
      ([network, { addresses }]) => [network, addresses.hot()] as const,
    ),
  )

/** Returns the path of the config file. */
function writeConfig(folder: string, config: Nodes['config'], hasAdmin: boolean): string {
  const file = join(folder, hasAdmin ? 'config-with-admin.json' : 'config.json')
  writeFileSync(file, JSON.stringify(hasAdmin ? { ...config, admin: { enabled: true } } : config))
  return file
}
