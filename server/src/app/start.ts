import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../adapters/embedded-postgres/postgres.ts'
import { hasSeed } from '../adapters/signers/keystore-file.ts'
import type { Config } from '../config/load.ts'
import { lockFolder } from '../lib/lock.ts'
import type { App, Role } from './app.ts'
import type { Closer } from './configured-app.ts'
import { type SandboxChains, startSandboxChains } from './sandbox-chains.ts'
import { sandboxOperator } from './sandbox-operator.ts'

/* The order of a start. Postgres and the chains take seconds to start; the large libraries are loaded in the meantime. */

/** `stop` stops everything in reverse order and finishes work in progress. */
export type RunningApp = Readonly<{ url: string | null; stop(): Promise<void> }>

/** Delay that lets Postgres launch before the libraries block the event loop, in ms. */
const LAUNCH_MS = 50
/** How long a sandbox start waits for readiness, and how often it checks. */
const READY_MS = 60_000
const READY_LOOK_MS = 50

/**
 * Starts the program in one role and prints its progress. If a later part fails, everything started before is stopped.
 * An aborted `stopping` ends the start after the step in progress, and the promise rejects with its reason.
 */
export async function start(config: Config, role: Role, stopping: AbortSignal): Promise<RunningApp> {
  const startedAt = performance.now()
  const say = (line: string) =>
    console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  const closers: Closer[] = []
  const stop = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    if (role !== 'api') requireSeed(config)
    const requested = role === 'worker' ? config.workerPort : config.port
    const port = requested === null ? null : await findPort(config.host, requested)
    const lock = lockFolder(config.dataDir)
    closers.push(() => lock.release())
    const launched = await launchChains(config, say)
    const loading = load(role, closers)
    const [{ createConfiguredApp, routerThread }, chains, keys, databaseAndLog] = await Promise.all([
      loading,
      takeChains(launched, say, closers),
      loading.then(({ openKeys }) => openKeys(config, role, say)),
      Promise.all([openPostgres(config, say, closers), loading]).then(([url, { openDatabaseAndLog }]) =>
        openDatabaseAndLog(config, url),
      ),
    ])
    closers.push(() => keys.signer?.close())
    stopping.throwIfAborted()
    const app = await createConfiguredApp(config, role, { databaseAndLog, chains, keys, routerThread, port, closers })
    sayBuilt(app, say)
    await sayUnserved(app, say)
    if (chains && role !== 'api') app.starting.add('the workers are starting')
    const url = port === null ? null : await listen(config, port, app, closers)
    stopping.throwIfAborted()
    if (role !== 'api') {
      const workers = await app.startWorkers()
      closers.push(() => workers.stop())
      app.starting.delete('the workers are starting')
      say(`workers: watching ${[...app.chains.keys()].join(' ')}`)
    }
    stopping.throwIfAborted()
    if (chains && role !== 'api') await fund(app, chains.controlUrl, say, stopping)
    if (chains && role === 'all') await untilServing(app, say, stopping)
    welcome(config, role, url, say)
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Loads the app's modules and opens the router thread. */
async function load(role: Role, closers: Closer[]) {
  // Loading blocks the event loop, so Postgres and the chains are launched first.
  await delay(LAUNCH_MS)
  const [{ openDatabaseAndLog, createConfiguredApp }, { openKeys }, { openRouterThread }, { flushLog }] =
    await Promise.all([
      import('./configured-app.ts'),
      import('./keys.ts'),
      import('./router.ts'),
      import('../lib/log.ts'),
    ])
  // Closed after everything that logs.
  closers.push(flushLog)
  const routerThread = role === 'worker' ? null : openRouterThread()
  closers.push(async () => void (await routerThread?.terminate()))
  return { openDatabaseAndLog, createConfiguredApp, openKeys, routerThread }
}

function sayBuilt({ catalogue, chains }: App, say: (line: string) => void): void {
  const enabled = catalogue.list().filter(({ enabled }) => enabled)
  say(`database: up to date; ${enabled.length} currencies on ${chains.size} networks`)
}

async function sayUnserved({ store, chains }: App, say: (line: string) => void): Promise<void> {
  for (const { network, exchanges, transactions, payouts } of await store.reconciliation.listOpenElsewhere([
    ...chains.keys(),
  ]))
    say(
      `warning: ${network} is not configured and has ${exchanges} open exchanges, ${transactions} transactions and ${payouts} queued payouts: configure it until they are closed`,
    )
}

async function fund(app: App, controlUrl: string, say: (line: string) => void, stopping: AbortSignal): Promise<void> {
  const { fundSandbox } = await import('./sandbox-funding.ts')
  const { later } = await fundSandbox({ app, controlUrl, say, mines: true, signal: stopping })
  later.catch((error: Error) => {
    if (!stopping.aborted) say(`wallets: ${error.message}`)
  })
}

/** In the sandbox, `ready` is printed only when /health/ready answers 200: people call the API right after. */
async function untilServing({ services }: App, say: (line: string) => void, stopping: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_MS
  while (services.readiness().length > 0 && Date.now() < deadline && !stopping.aborted) await delay(READY_LOOK_MS)
  stopping.throwIfAborted()
  for (const reason of services.readiness()) say(`not served yet: ${reason}`)
}

/** Refuses a worker whose keystore has public keys only, before anything is started. */
function requireSeed({ keystore: { file } }: Config): void {
  if (existsSync(file) && !hasSeed(file))
    throw new Error(
      `a worker signs, but ${file} holds public keys only: start with --role api, or use the keystore with the seed`,
    )
}

/** Checks the port before anything is started. Port 0 becomes a free port, because our own URLs contain it. */
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

async function openPostgres(config: Config, say: (line: string) => void, closers: Closer[]): Promise<string> {
  if (config.databaseUrl !== null) {
    say('database: DATABASE_URL')
    return config.databaseUrl
  }
  const postgres = await startPostgres({
    dataDir: config.dataDir,
    onRestart: (reason) => say(`database: restarted (${reason})`),
  })
  closers.push(() => postgres.stop())
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
  closers: Closer[],
): Promise<SandboxChains | null> {
  if (launched === null) return null
  const chains = await launched.up
  closers.push(() => chains.stop())
  say(`chains: ${chains.networks.map(({ network }) => network).join(' ')}`)
  return chains
}

async function listen({ host, clocks }: Config, port: number, { http }: App, closers: Closer[]): Promise<string> {
  const url = await http.listen({ host, port })
  closers.push(async () => {
    http.drain()
    // Load balancers that check readiness stop sending requests before the server closes.
    await new Promise((resolve) => setTimeout(resolve, clocks.drainMs))
    await http.close()
  })
  return url
}

function welcome(config: Config, role: Role, url: string | null, say: (line: string) => void): void {
  say(url === null ? `ready: ${role}` : `ready: ${role} at ${url}`)
  if (role === 'worker' || url === null || config.environment === 'production') return
  const { login, password } = sandboxOperator
  const lines = [
    `playground ${url}/`,
    `API        ${url}`,
    'key        x-api-key: sandbox',
    `docs       ${url}/docs`,
    ...(config.admin.enabled ? [`console    ${url}/console (operator ${login}, password ${password})`] : []),
  ]
  console.log(`\n${lines.map((line) => `  ${line}\n`).join('')}`)
}
