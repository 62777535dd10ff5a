import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@swapyard/lib/free-port.ts'
import { type Database, openDatabase } from '../../server/src/adapters/postgres/core/database.ts'
import { createStore } from '../../server/src/adapters/postgres/exchange/store.ts'
import { openPublicKeys, openSigner } from '../../server/src/adapters/signers/keystore.ts'
import { createPayeeMacs } from '../../server/src/adapters/signers/payee-macs.ts'
import { type ClosableChain, createChains } from '../../server/src/app/chains.ts'
import { coinTypes } from '../../server/src/app/keys.ts'
import type { Catalogue } from '../../server/src/core/domain/catalogue.ts'
import type { ViewKeys } from '../../server/src/exchange/ports/signer.ts'
import type { Store } from '../../server/src/exchange/ports/store/store.ts'
import { createDatabase } from '../support/database.ts'
import { createQuickKeystore } from '../support/keystore.ts'
import { POOL_WAIT_MS } from '../support/patience.ts'
import type { Cluster } from './cluster.ts'
import { createInterruptions, type Interruptions, type Overload } from './interruptions.ts'
import { type MoneroProxy, startMoneroProxy } from './monero-proxy.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'
import { createServerProcess, type ServerProcess } from './server-process.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const passphrase = 'a passphrase of the chaos runs'
const pepper = 'a pepper of the chaos runs, long enough'
/** SLIP-44 coin type of Monero. */
const MONERO = 128
const repository = join(import.meta.dirname, '../..')
/** Pause of the supervisor before it restarts a process that exited. */
const RESTART_MS = 300

export type FleetOptions = Readonly<{
  apis: number
  workers: number
  /** Path of the server: this checkout (default) or a copy with a planted bug. */
  root?: string
  /** Default: a process that no fault touches answers no request with 503. */
  overload?: Overload
  /** Merged into the config file. */
  config?: Readonly<Record<string, unknown>>
  /** Puts proxies in front of Postgres, of these networks' nodes and of monerod. */
  proxied?: Readonly<{ database?: boolean; networks?: readonly string[]; monero?: boolean }>
  /** Networks in `proxied.networks` whose proxies state constant fee rates, so that network fees are exact. */
  fixedFees?: readonly string[]
}>

/** The processes of one app on a cluster. Each fleet has its own database, secrets and addresses. */
export type Fleet = Readonly<{
  cluster: Cluster
  apis: readonly ServerProcess[]
  workers: readonly ServerProcess[]
  all: readonly ServerProcess[]
  /** Connected without a proxy, for checks and for the operator's actions. */
  database: Database
  store: Store
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
  /** Keys of the app's Monero wallet, to restore it for the checks; null = the fleet does not serve xmr. */
  moneroKeys: Readonly<{ view: ViewKeys; seed: Uint8Array }> | null
  databaseProxy: TcpProxy | null
  nodes: ReadonlyMap<string, RpcProxy>
  /** Networks whose nodes state constant fee rates. */
  fixedFees: readonly string[]
  moneroProxy: MoneroProxy | null
  interruptions: Interruptions
  /** Begins an interruption of all API processes, which may answer 503 until it is over and they are ready again. */
  interruptApis(reason: string): () => void
  start(): Promise<void>
  /** Restarts processes that exit, until `stop`. */
  supervise(): { stop(): Promise<void> }
  /** The faults of all processes. */
  countFaults(): ReturnType<ServerProcess['countFaults']>
  stop(): Promise<void>
}>

type LocalProxy = Readonly<{ url: string; close(): Promise<void> }>
let count = 0

export async function createFleet(cluster: Cluster, options: FleetOptions): Promise<Fleet> {
  const folder = join(cluster.folder, `fleet-${count++}`)
  mkdirSync(folder)
  const fleetDatabase = await createDatabase(cluster.databaseUrl)
  const keystore = join(folder, 'keystore.json')
  await createQuickKeystore(keystore, passphrase, coinTypes)
  const databaseProxy = options.proxied?.database ? await startTcpProxy(Number(new URL(fleetDatabase.url).port)) : null
  const nodes = await proxyNodes(cluster, options.proxied?.networks ?? [])
  // The node of an optional network may not be installed.
  const isServed = (id: string) => cluster.chains.networks.some(({ network }) => network === id)
  const fixedFees = (options.fixedFees ?? []).filter(isServed)
  for (const network of fixedFees) fixFees(nodes, network)
  const monero = cluster.chains.networks.find(({ network }) => network === 'xmr')
  const moneroProxy = options.proxied?.monero && monero ? await startMoneroProxy(monero.rpcUrls[0] ?? '') : null
  const proxies = new Map<string, LocalProxy>([...nodes, ...(moneroProxy ? [['xmr', moneroProxy] as const] : [])])
  const env = {
    DATABASE_URL: databaseProxy ? withPort(fleetDatabase.url, databaseProxy.port) : fleetDatabase.url,
    SWAPYARD_CHAINS: writeChains(folder, cluster, proxies),
    SWAPYARD_CONFIG: writeConfig(folder, options.config ?? {}),
    SWAPYARD_KEYSTORE: keystore,
    SWAPYARD_KEYSTORE_PASSPHRASE: passphrase,
    SWAPYARD_PEPPER: pepper,
    SWAPYARD_POOL_WAIT_MS: String(POOL_WAIT_MS),
  }
  const ports = await freePorts(options.apis)
  const interruptions = createInterruptions({ overload: options.overload })
  const common = { root: options.root ?? repository, folder, env, interruptions }
  const apis = ports.map((port, n) => createServerProcess({ name: `api-${n + 1}`, role: 'api', port, ...common }))
  const workers = Array.from({ length: options.workers }, (_, n) =>
    createServerProcess({ name: `worker-${n + 1}`, role: 'worker', port: 0, ...common }),
  )
  const database = openDatabase(fleetDatabase.url, {
    max: 8,
    waitMs: POOL_WAIT_MS,
    applicationName: 'chaos',
    onIdleError: () => undefined,
  })
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
    moneroKeys: monero ? await readMoneroKeys(folder, keystore) : null,
    databaseProxy,
    nodes,
    fixedFees,
    moneroProxy,
    interruptions,
    interruptApis: (reason) => interruptions.begin(reason, listUrls(apis), ['503']),
    store: createStore(database, createPayeeMacs(Buffer.from(pepper))),
    start: async () => {
      const [first, ...others] = workers
      // The first worker funds the hot wallets. Several at once would fund them several times.
      await Promise.all([...apis.map((api) => api.start()), first?.start()])
      await Promise.all(others.map((worker) => worker.start()))
    },
    supervise: () => supervise(all),
    countFaults: () => {
      const sum = (kind: 'kills' | 'stops' | 'fullDisks') =>
        all.reduce((total, one) => total + one.countFaults()[kind], 0)
      return { kills: sum('kills'), stops: sum('stops'), fullDisks: sum('fullDisks') }
    },
    stop: async () => {
      interruptions.close()
      await Promise.all(all.map((one) => one.end('SIGKILL')))
      await Promise.all([...chains.values()].map((chain) => chain.close?.()))
      await database.close()
      await databaseProxy?.close()
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()))
      await fleetDatabase.drop()
    },
  }
}

const listUrls = (apis: readonly ServerProcess[]): string[] => apis.map(({ url }) => url ?? '')

async function readMoneroKeys(folder: string, keystore: string): Promise<NonNullable<Fleet['moneroKeys']>> {
  const view = openPublicKeys(keystore).viewKeys?.(MONERO)
  if (!view) throw new Error('the keystore has no view keys of Monero')
  const signer = await openSigner({
    path: keystore,
    passphrase,
    // Signs nothing: this signer only derives a key.
    journalPath: join(folder, 'checks.log'),
    signWith: {},
    macs: createPayeeMacs(Buffer.from(pepper)),
    coinTypeOf: () => MONERO,
  })
  const seed = signer.walletKey(MONERO, 0)
  await signer.close()
  return { view, seed }
}

function supervise(all: readonly ServerProcess[]) {
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

function fixFees(nodes: ReadonlyMap<string, RpcProxy>, network: string): void {
  const proxy = nodes.get(network)
  if (!proxy) throw new Error(`this fleet has no proxy in front of ${network}, which states constant fee rates`)
  proxy.fixFees()
}

function writeChains(folder: string, { chains }: Cluster, proxies: ReadonlyMap<string, LocalProxy>): string {
  const file = join(folder, 'chains.json')
  const networks = chains.networks.map((node) => ({
    ...node,
    rpcUrls: [proxies.get(node.network)?.url ?? node.rpcUrls[0]],
  }))
  writeFileSync(file, JSON.stringify({ ...chains, networks }))
  return file
}

/** Limits far above the amounts of a run, because other tests cover limits. */
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
