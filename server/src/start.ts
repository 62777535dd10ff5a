import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { currencies } from '../currencies/index.ts'
import { networks as definitions } from '../networks/index.ts'
import { startPostgres } from './adapters/embedded/postgres.ts'
import { createEmbeddedPrices } from './adapters/prices/embedded.ts'
import { createHttpPrices } from './adapters/prices/http.ts'
import { createMedianPrices } from './adapters/prices/median.ts'
import { createKeystore, hasSeed, openPublicKeys, openSigner } from './adapters/signers/keystore.ts'
import type { OutflowLimits } from './adapters/signers/outflow.ts'
import { openAddresses } from './cli/addresses.ts'
import { seedSandboxPartners } from './cli/sandbox-partners.ts'
import { composeHouse, type House, type Role } from './compose.ts'
import { composeSigning, families, type NetworkNodes } from './compose-chains.ts'
import { productionSwaps, sandboxSwaps } from './compose-swaps.ts'
import type { Config } from './config.ts'
import { describeConfig } from './config-text.ts'
import { parseUnits } from './domain/amount.ts'
import { assetId } from './domain/asset.ts'
import { toAsset } from './domain/currency.ts'
import { fundSandbox } from './fund-sandbox.ts'
import { assert, present } from './lib/assert.ts'
import { createHttp } from './lib/http.ts'
import { lockFolder } from './lib/lock.ts'
import { createLog, type Log } from './lib/log.ts'
import { createMetrics } from './lib/metrics.ts'
import type { Prices } from './ports/prices.ts'
import { type SandboxChains, startSandboxChains } from './sandbox-chains.ts'

/** Stops what was started, in the order that loses nothing. */
export type Running = Readonly<{ url: string | null; stop(): Promise<void> }>

type Stopper = () => Promise<void> | void

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
    const { house, chains } = await build(config, role, port, say, stoppers)
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

async function fund(house: House, controlUrl: string, say: (line: string) => void, stoppers: Stopper[]): Promise<void> {
  const stopping = new AbortController()
  stoppers.push(() => stopping.abort())
  const { later } = await fundSandbox({ house, controlUrl, say, signal: stopping.signal })
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

async function build(
  config: Config,
  role: Role,
  port: number | null,
  say: (line: string) => void,
  stoppers: Stopper[],
): Promise<{ house: House; chains: SandboxChains | null }> {
  const log = createLog({ level: config.logLevel, pretty: false })
  log.debug({ settings: describeConfig(config) }, 'settings read')
  const [databaseUrl, chains] = await Promise.all([
    openPostgres(config, say, stoppers),
    openChains(config, say, stoppers),
    ensureKeystore(config, say),
  ])
  const nodes: readonly NetworkNodes[] =
    chains?.nodes ?? [...config.networks].map(([network, { rpcUrls }]) => ({ network, rpcUrls, tokens: {} }))
  const { clocks, limits } = config
  const house = await composeHouse({
    environment: config.environment,
    databaseUrl,
    poolMax: config.poolMax,
    nodes,
    publicKeys: openPublicKeys(config.keystore.file),
    signer: role === 'api' ? null : await unlock(config, stoppers),
    walletFolder: join(config.dataDir, 'wallets'),
    walletSettings: config.monero,
    pepper: Buffer.from(config.pepper),
    prices: openPrices(config, log, stoppers),
    overrides: config.currencies,
    spreads: config.spreads,
    settings: {
      rateIdMs: clocks.rateIdMs,
      fixedLockMs: clocks.fixedLockMs,
      expiryMs: clocks.expiryMs,
      stuckMs: clocks.stuckMs,
      limits,
      privacy: config.privacy,
    },
    denied: config.denied,
    swaps: chains === null ? productionSwaps(nodes, config.swaps) : sandboxSwaps(chains.networks),
    rateLimit: config.rateLimit,
    api: {
      publicUrl:
        config.publicUrl ??
        `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port ?? config.port}`,
      trustedProxies: config.trustedProxies,
      operatorToken: config.operatorToken,
      sandboxControlUrl: chains?.controlUrl ?? null,
      operationsOnly: role === 'worker',
    },
    log,
    metrics: createMetrics(),
  })
  stoppers.push(() => house.stop())
  if (config.environment === 'sandbox') await seedSandboxPartners(house.database, Buffer.from(config.pepper))
  say(
    `database: up to date; ${house.catalogue.list().filter(({ enabled }) => enabled).length} currencies on ${house.chains.size} networks`,
  )
  return { house, chains }
}

/** Production has the operator's sources and their median; the sandbox prices that nobody should believe. */
function openPrices({ environment, prices, sandbox }: Config, log: Log, stoppers: Stopper[]): Prices {
  if (prices === null) {
    assert(environment === 'sandbox', 'production has its price sources')
    return createEmbeddedPrices({ now: Date.now, still: sandbox.still })
  }
  const http = createHttp()
  stoppers.push(() => http.close())
  return createMedianPrices({
    sources: prices.sources.map((url) => ({ id: new URL(url).host, prices: createHttpPrices(url, http) })),
    quorum: prices.quorum,
    now: Date.now,
    onDropped: (source, reason, priceKey) => log.warn({ source, reason, priceKey }, 'price dropped'),
  })
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

async function openChains(
  config: Config,
  say: (line: string) => void,
  stoppers: Stopper[],
): Promise<SandboxChains | null> {
  if (config.environment === 'production') return null
  const chains = await startSandboxChains({
    file: config.chainsFile,
    dataDir: config.dataDir,
    networks: config.sandbox.networks,
    say,
  })
  stoppers.push(() => chains.stop())
  say(`chains: ${chains.networks.map(({ network }) => network).join(' ')}`)
  return chains
}

export const coinTypes = [
  ...new Set(
    definitions.filter(({ family }) => families.some((served) => served === family)).map(({ coinType }) => coinType),
  ),
]

/** The sandbox makes its own keys; production's are made by `swapyard keystore create`, and backed up. */
async function ensureKeystore({ environment, keystore }: Config, say: (line: string) => void): Promise<void> {
  if (existsSync(keystore.file)) return
  if (environment === 'production')
    throw new Error(`there is no keystore at ${keystore.file}: make one with \`swapyard keystore create\``)
  await createKeystore(keystore.file, present(keystore.passphrase, 'the sandbox passphrase'), coinTypes)
  say('keystore: new keys for this sandbox')
}

async function unlock(config: Config, stoppers: Stopper[]) {
  const { environment, keystore, dataDir, signerLimits } = config
  if (keystore.passphrase === null)
    throw new Error('a worker signs: set SWAPYARD_KEYSTORE_PASSPHRASE, or start with --role api')
  const coinTypeOf = new Map(definitions.map(({ id, coinType }) => [id, coinType]))
  const hot = new Map([...openAddresses(config)].map(([network, { addresses }]) => [network, addresses.hot()]))
  const signer = await openSigner({
    path: keystore.file,
    passphrase: keystore.passphrase,
    journalPath: join(dataDir, 'signed.log'),
    signWith: composeSigning(environment),
    coinTypeOf: (network) => present(coinTypeOf.get(network), `the coin type of ${network}`),
    limits: toOutflowLimits(signerLimits),
    isOwn: (network, address) => hot.get(network) === address,
  })
  stoppers.push(() => signer.close())
  return signer
}

/** Coins of the settings, in units of the listed assets. */
function toOutflowLimits(coins: Config['signerLimits']): OutflowLimits {
  const limits = [...coins].map(([id, { transaction, hour, day }]) => {
    const listed = currencies.find(({ ticker, network }) => assetId(ticker, network) === id)
    if (!listed) throw new Error(`signer.limits names ${id}, which is no listed currency`)
    const asset = toAsset(listed, listed.contract)
    const units = (text: string) => parseUnits(text, asset, `signer.limits ${id}`)
    return [asset.id, { transaction: units(transaction), hour: units(hour), day: units(day) }] as const
  })
  return new Map(limits)
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
