import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@swapyard/lib/free-port.ts'
import { type Database, openDatabase } from '../../server/src/adapters/postgres/core/database.ts'
import { createStore } from '../../server/src/adapters/postgres/exchange/store.ts'
import { openPublicKeys } from '../../server/src/adapters/signers/keystore.ts'
import { type ClosableChain, createChains } from '../../server/src/app/chains.ts'
import { coinTypes } from '../../server/src/app/keys.ts'
import type { Catalogue } from '../../server/src/core/domain/catalogue.ts'
import type { Store } from '../../server/src/exchange/ports/store/store.ts'
import { createDatabase } from '../support/database.ts'
import { createQuickKeystore } from '../support/keystore.ts'
import type { Cluster } from './cluster.ts'
import { type MoneroTwin, startMoneroTwin } from './monero-twin.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'
import { createServerProcess, type ServerProcess } from './server-process.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const passphrase = 'a passphrase of the chaos runs'
const pepper = 'a pepper of the chaos runs, long enough'
const repository = join(import.meta.dirname, '../..')
/** Pause before a process that ended is started again, as a supervisor does. */
const RESTART_MS = 300

export type FleetOptions = Readonly<{
  apis: number
  workers: number
  /** Where the server lies: this checkout, or a copy with a planted bug. */
  root?: string
  /** Merged into the config file. */
  config?: Readonly<Record<string, unknown>>
  /** Put a proxy in front of Postgres, or of these networks' nodes. */
  proxied?: Readonly<{ database?: boolean; networks?: readonly string[]; monero?: boolean }>
}>

/** Real processes of one app on a cluster: a database, secrets and addresses of its own. */
export type Fleet = Readonly<{
  cluster: Cluster
  apis: readonly ServerProcess[]
  workers: readonly ServerProcess[]
  all: readonly ServerProcess[]
  /** Past every proxy: for looking, and for what an operator does. */
  database: Database
  store: Store
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
  databaseProxy: TcpProxy | null
  nodes: ReadonlyMap<string, RpcProxy>
  moneroTwin: MoneroTwin | null
  start(): Promise<void>
  /** Starts again what has ended, until it is stopped. */
  nurse(): { stop(): Promise<void> }
  /** Processes that were killed so far. */
  kills(): number
  stop(): Promise<void>
}>

type Proxy = Readonly<{ url: string; close(): Promise<void> }>
let count = 0

export async function createFleet(cluster: Cluster, options: FleetOptions): Promise<Fleet> {
  const folder = join(cluster.folder, `fleet-${count++}`)
  mkdirSync(folder)
  const made = await createDatabase(cluster.databaseUrl)
  const keystore = join(folder, 'keystore.json')
  await createQuickKeystore(keystore, passphrase, coinTypes)
  const databaseProxy = options.proxied?.database ? await startTcpProxy(Number(new URL(made.url).port)) : null
  const nodes = await proxyNodes(cluster, options.proxied?.networks ?? [])
  const monero = cluster.chains.networks.find(({ network }) => network === 'xmr')
  const moneroTwin = options.proxied?.monero && monero ? await startMoneroTwin(monero.rpcUrls[0] ?? '') : null
  const proxies = new Map<string, Proxy>([...nodes, ...(moneroTwin ? [['xmr', moneroTwin] as const] : [])])
  const env = {
    DATABASE_URL: databaseProxy ? withPort(made.url, databaseProxy.port) : made.url,
    SWAPYARD_CHAINS: writeChains(folder, cluster, proxies),
    SWAPYARD_CONFIG: writeConfig(folder, options.config ?? {}),
    SWAPYARD_KEYSTORE: keystore,
    SWAPYARD_KEYSTORE_PASSPHRASE: passphrase,
    SWAPYARD_PEPPER: pepper,
  }
  const ports = await freePorts(options.apis)
  const root = options.root ?? repository
  const apis = ports.map((port, n) =>
    createServerProcess({ name: `api-${n + 1}`, role: 'api', root, folder, port, env }),
  )
  const workers = Array.from({ length: options.workers }, (_, n) =>
    createServerProcess({ name: `worker-${n + 1}`, role: 'worker', root, folder, port: 0, env }),
  )
  const database = openDatabase(made.url, { max: 8, applicationName: 'chaos', onIdleError: () => undefined })
  const { catalogue, chains } = createChains('sandbox', cluster.chains.networks, openPublicKeys(keystore))
  const all = [...apis, ...workers]
  return {
    cluster,
    apis,
    workers,
    all,
    database,
    catalogue,
    chains,
    databaseProxy,
    nodes,
    moneroTwin,
    store: createStore(database),
    start: async () => {
      const [first, ...others] = workers
      // The first worker fills the hot wallets; more of them at once would fill them more than once.
      await Promise.all([...apis.map((api) => api.start()), first?.start()])
      await Promise.all(others.map((worker) => worker.start()))
    },
    nurse: () => nurse(all),
    kills: () => all.reduce((sum, one) => sum + one.kills(), 0),
    stop: async () => {
      await Promise.all(all.map((one) => one.end('SIGKILL')))
      await Promise.all([...chains.values()].map((chain) => chain.close?.()))
      await database.close()
      await databaseProxy?.close()
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()))
      await made.drop()
    },
  }
}

function nurse(all: readonly ServerProcess[]) {
  let stopping = false
  const running = all.map(async (one) => {
    while (!stopping) {
      await delay(RESTART_MS)
      if (stopping || one.isRunning()) continue
      await one.start({ waitReady: false })
    }
  })
  return {
    stop: async () => {
      stopping = true
      await Promise.all(running)
    },
  }
}

async function proxyNodes(cluster: Cluster, networks: readonly string[]): Promise<ReadonlyMap<string, RpcProxy>> {
  const proxied = cluster.chains.networks.filter(({ network }) => networks.includes(network))
  return new Map(
    await Promise.all(
      proxied.map(
        async ({ network, family, rpcUrls }) =>
          [network, await startRpcProxy(rpcUrls[0] ?? '', family === 'evm' ? 'evm' : 'bitcoin')] as const,
      ),
    ),
  )
}

function writeChains(folder: string, { chains }: Cluster, nodes: ReadonlyMap<string, Proxy>): string {
  const file = join(folder, 'chains.json')
  const networks = chains.networks.map((node) => ({
    ...node,
    rpcUrls: [nodes.get(node.network)?.url ?? node.rpcUrls[0]],
  }))
  writeFileSync(file, JSON.stringify({ ...chains, networks }))
  return file
}

/** Limits far above what a run moves: what they do is another test's. */
function writeConfig(folder: string, config: Readonly<Record<string, unknown>>): string {
  const file = join(folder, 'config.json')
  const limits = { perTransactionUsd: 10_000_000, hourUsd: 1_000_000_000, dayUsd: 1_000_000_000 }
  writeFileSync(file, JSON.stringify({ environment: 'sandbox', limits, ...config }))
  return file
}

function withPort(text: string, port: number): string {
  const url = new URL(text)
  url.port = String(port)
  return url.href
}
