import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../adapters/embedded-postgres/postgres.ts'
import { hasSeed } from '../adapters/signers/keystore-file.ts'
import type { Config } from '../config/config.ts'
import { lockFolder } from '../lib/lock.ts'
import type { House, Role } from './app.ts'
import type { Stopper } from './build-app.ts'
import { type SandboxChains, startSandboxChains } from './sandbox-chains.ts'

/* What a start does in order. What it starts takes seconds of its own, so the large libraries are loaded meanwhile. */

/** Stops what was started, in the order that loses nothing. */
export type Running = Readonly<{ url: string | null; stop(): Promise<void> }>

/** In which Postgres is launched. */
const LAUNCH_MS = 50
/** Longest wait for what a start still misses, and how often it looks. */
const READY_MS = 60_000
const READY_LOOK_MS = 50

/** Starts the program in one role, saying what it does. Whatever was started is stopped again where a later part fails. */
export async function start(config: Config, role: Role): Promise<Running> {
  const startedAt = performance.now()
  const say = (line: string) =>
    console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  const stoppers: Stopper[] = []
  const stop = async () => {
    for (const stopper of stoppers.splice(0).reverse()) await stopper()
  }
  try {
    if (role !== 'api') requireSeed(config)
    const wanted = role === 'worker' ? config.workerPort : config.port
    const port = wanted === null ? null : await findPort(config.host, wanted)
    const lock = lockFolder(config.dataDir)
    stoppers.push(() => lock.release())
    const launched = await launchChains(config, say)
    const loading = load(role, stoppers)
    const [{ buildHouse, routerThread }, chains, keys, base] = await Promise.all([
      loading,
      takeChains(launched, say, stoppers),
      loading.then(({ openKeys }) => openKeys(config, role, say)),
      Promise.all([openPostgres(config, say, stoppers), loading]).then(([url, { openBase }]) => openBase(config, url)),
    ])
    stoppers.push(() => keys.signer?.close())
    const house = await buildHouse(config, role, { base, chains, keys, routerThread, port, stoppers })
    sayBuilt(house, say)
    if (chains && role !== 'api') house.starting.add('the workers are starting')
    const url = port === null ? null : await listen(config, port, house, stoppers)
    if (role !== 'api') {
      const workers = await house.startWorkers()
      stoppers.push(() => workers.stop())
      house.starting.delete('the workers are starting')
      say(`workers: watching ${[...house.chains.keys()].join(' ')}`)
    }
    if (chains && role !== 'api') await fund(house, chains.controlUrl, say, stoppers)
    if (chains && role === 'all') await untilServing(house, say)
    welcome(config, role, url, say)
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The program itself, and its router's thread. */
async function load(role: Role, stoppers: Stopper[]) {
  // Loading holds up everything else: Postgres is on its way first, as the chains are.
  await delay(LAUNCH_MS)
  const [{ openBase, buildHouse }, { openKeys }, { openRouterThread }, { flushLog }] = await Promise.all([
    import('./build-app.ts'),
    import('./keys.ts'),
    import('./router.ts'),
    import('../lib/log.ts'),
  ])
  // Stops after everything that logs.
  stoppers.push(flushLog)
  const routerThread = role === 'worker' ? null : openRouterThread()
  stoppers.push(async () => void (await routerThread?.terminate()))
  return { openBase, buildHouse, openKeys, routerThread }
}

function sayBuilt({ catalogue, chains }: House, say: (line: string) => void): void {
  const enabled = catalogue.list().filter(({ enabled }) => enabled)
  say(`database: up to date; ${enabled.length} currencies on ${chains.size} networks`)
}

async function fund(house: House, controlUrl: string, say: (line: string) => void, stoppers: Stopper[]): Promise<void> {
  const { fundSandbox } = await import('./sandbox-funding.ts')
  const stopping = new AbortController()
  stoppers.push(() => stopping.abort())
  const { later } = await fundSandbox({ house, controlUrl, say, mines: true, signal: stopping.signal })
  later.catch((error: Error) => {
    if (!stopping.signal.aborted) say(`wallets: ${error.message}`)
  })
}

/** In the sandbox `ready` is what /health/ready says: whoever reads it calls at once. */
async function untilServing({ services }: House, say: (line: string) => void): Promise<void> {
  const deadline = Date.now() + READY_MS
  while (services.readiness().length > 0 && Date.now() < deadline) await delay(READY_LOOK_MS)
  for (const reason of services.readiness()) say(`not served yet: ${reason}`)
}

/** Before anything is started: the file of an API machine is no worker's. */
function requireSeed({ keystore: { file } }: Config): void {
  if (existsSync(file) && !hasSeed(file))
    throw new Error(
      `a worker signs, and ${file} holds public keys alone: start with --role api, or name the keystore with the seed`,
    )
}

/** Found out first, before anything else is started for nothing. For 0 a free one: our own URLs name it. */
async function findPort(host: string, port: number): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const busy = error.code === 'EADDRINUSE'
      reject(
        new Error(
          busy
            ? `port ${port} on ${host} is in use: stop what uses it, or set PORT to another (PORT=0 takes a free one)`
            : `cannot listen on ${host}:${port}: ${error.code}`,
        ),
      )
    })
    probe.listen(port, host, resolve)
  })
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address ? address.port : port
}

async function openPostgres(config: Config, say: (line: string) => void, stoppers: Stopper[]): Promise<string> {
  if (config.databaseUrl !== null) {
    say('database: DATABASE_URL')
    return config.databaseUrl
  }
  const postgres = await startPostgres({
    dataDir: config.dataDir,
    onRestart: (reason) => say(`database: restarted (${reason})`),
  })
  stoppers.push(() => postgres.stop())
  say('database: embedded Postgres started')
  return postgres.url
}

type Launched = Awaited<ReturnType<typeof startSandboxChains>>

async function launchChains(config: Config, say: (line: string) => void): Promise<Launched | null> {
  if (config.environment === 'production') return null
  const { chainsFile: file, dataDir, sandbox } = config
  return startSandboxChains({ file, dataDir, networks: sandbox.networks, say })
}

async function takeChains(
  launched: Launched | null,
  say: (line: string) => void,
  stoppers: Stopper[],
): Promise<SandboxChains | null> {
  if (launched === null) return null
  const chains = await launched.up
  stoppers.push(() => chains.stop())
  say(`chains: ${chains.networks.map(({ network }) => network).join(' ')}`)
  return chains
}

async function listen({ host, clocks }: Config, port: number, { app }: House, stoppers: Stopper[]): Promise<string> {
  const url = await app.listen({ host, port })
  stoppers.push(async () => {
    app.drain()
    // A balancer that asks for readiness sends nothing more from then on, and no request meets a closed door.
    await new Promise((resolve) => setTimeout(resolve, clocks.drainMs))
    await app.close()
  })
  return url
}

function welcome(config: Config, role: Role, url: string | null, say: (line: string) => void): void {
  say(url === null ? `ready: ${role}` : `ready: ${role} at ${url}`)
  if (role === 'worker' || url === null || config.environment === 'production') return
  console.log(`\n  API        ${url}\n  key        x-api-key: sandbox\n  reference  ${url}/docs\n`)
}
