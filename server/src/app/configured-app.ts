import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Database } from '../adapters/postgres/core/database.ts'
import { describeConfig } from '../config/in-force.ts'
import type { Config } from '../config/load.ts'
import { toOutflowLimits } from '../config/signer-limits.ts'
import type { ServiceSettings } from '../exchange/settings.ts'
import { createLog, type Log } from '../lib/log.ts'
import { mountAdminApi, seedSandboxOperator } from './admin.ts'
import { type App, createApp, prepareDatabase, type Role } from './app.ts'
import type { NetworkNodes } from './chains.ts'
import {
  reportChecksums,
  reportCoreDumps,
  requireDurableDatabase,
  requireOwnNetworks,
  requireTraces,
} from './check-production.ts'
import type { Keys } from './keys.ts'
import { createMetrics } from './metrics.ts'
import { openPrices } from './prices.ts'
import type { SandboxChains } from './sandbox-chains.ts'
import { seedSandboxPartners } from './sandbox-partners.ts'
import { productionSwaps, sandboxSwaps, serveNetworks } from './swaps.ts'

/** Stops one started component. */
export type Closer = () => Promise<void> | void

/** The log, and the migrated database. */
export type DatabaseAndLog = Readonly<{ log: Log; databaseUrl: string; database: Database }>

export async function openDatabaseAndLog(config: Config, databaseUrl: string): Promise<DatabaseAndLog> {
  const log = createLog({ level: config.logLevel, pretty: false })
  log.debug({ settings: describeConfig(config) }, 'settings read')
  if (config.environment === 'production') await requireDurableDatabase(databaseUrl)
  const { environment, poolMax, poolWaitMs } = config
  return { log, databaseUrl, database: await prepareDatabase(databaseUrl, { environment, poolMax, poolWaitMs, log }) }
}

export type Infrastructure = Readonly<{
  databaseAndLog: DatabaseAndLog
  /** Null in production. */
  chains: SandboxChains | null
  keys: Keys
  routerThread: Worker | null
  /** The port of the HTTP server; null if it does not listen. */
  port: number | null
  closers: Closer[]
}>

/** The settings of the exchange services. */
export function toServiceSettings(config: Config): ServiceSettings {
  const { clocks, limits, guards, outputs, coldAddresses, privacy } = config
  return {
    rateIdMs: clocks.rateIdMs,
    fixedLockMs: clocks.fixedLockMs,
    expiryMs: clocks.expiryMs,
    stuckMs: clocks.stuckMs,
    ...{ limits, guards, outputs, coldAddresses, privacy },
    fundingsAreCapital: config.fundingsAreCapital || config.environment === 'sandbox',
  }
}

/** Creates the app from its configuration on infrastructure that `start` opened. */
export async function createConfiguredApp(config: Config, role: Role, ground: Infrastructure): Promise<App> {
  const { databaseAndLog, chains, keys, port, closers } = ground
  const { log } = databaseAndLog
  const nodes: readonly NetworkNodes[] =
    chains?.nodes ?? [...config.networks].map(([network, settings]) => ({ network, ...settings, tokens: {} }))
  const swaps = chains === null ? productionSwaps(nodes, config.swaps) : sandboxSwaps(chains.networks)
  const metrics = createMetrics()
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const publicUrl = config.publicUrl ?? `http://${host}:${port ?? config.port}`
  const app = await createApp({
    environment: config.environment,
    databaseUrl: databaseAndLog.databaseUrl,
    database: databaseAndLog.database,
    poolMax: config.poolMax,
    nodes,
    publicKeys: keys.publicKeys,
    signer: keys.signer,
    walletFolder: join(config.dataDir, 'wallets'),
    walletSettings: config.monero,
    pepper: Buffer.from(config.pepper),
    previousPepper: config.previousPepper === null ? null : Buffer.from(config.previousPepper),
    mail: config.mail,
    prices: openPrices(config, { chains, log, metrics, closers }),
    overrides: config.currencies,
    spreads: config.spreads,
    settings: toServiceSettings(config),
    signerLimits: toOutflowLimits(config.signerLimits),
    denied: config.denied,
    swaps,
    routerThread: ground.routerThread,
    rateLimit: config.rateLimit,
    api: {
      publicUrl,
      trustedProxies: config.trustedProxies,
      operatorToken: config.operatorToken,
      sandboxControlUrl: chains?.controlUrl ?? null,
      operationsOnly: role === 'worker',
    },
    log,
    metrics,
  })
  closers.push(() => app.stop())
  if (config.admin.enabled && role !== 'worker') mountAdminApi(config, app, { nodes, swaps, publicUrl })
  if (config.environment === 'production') {
    if (keys.signer !== null) reportCoreDumps(log)
    await reportChecksums(app.database, app.store.alarms, log)
    await requireTraces(app.chains, config.networks, log)
    await requireOwnNetworks(await serveNetworks(config.environment, swaps.routing), log)
  }
  if (config.environment === 'sandbox') {
    await seedSandboxPartners(app.database, Buffer.from(config.pepper))
    await seedSandboxOperator(app.database, config)
  }
  return app
}
