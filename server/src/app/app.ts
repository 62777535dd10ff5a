import { randomInt } from 'node:crypto'
import type { Worker } from 'node:worker_threads'
import { type Database, openDatabase } from '../adapters/postgres/core/database.ts'
import { claimEnvironment } from '../adapters/postgres/core/environment.ts'
import { listen } from '../adapters/postgres/core/listen.ts'
import { migrate } from '../adapters/postgres/core/migrate.ts'
import { createPartnerStore } from '../adapters/postgres/core/partners.ts'
import { createThrottle } from '../adapters/postgres/core/throttle.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { prepareJobs } from '../adapters/postgres/queue/job-runner.ts'
import type { OutflowLimits } from '../adapters/signers/outflow.ts'
import { createPayeeMacs } from '../adapters/signers/payee-macs.ts'
import type { CurrencyOverrides, WalletSettings } from '../config/file.ts'
import { emptyBook, type FixedRatePolicy, type SpreadPolicy } from '../core/domain/book.ts'
import { type Catalogue, feedCodes } from '../core/domain/catalogue.ts'
import type { Environment } from '../core/domain/network.ts'
import { oldestTime } from '../core/domain/price.ts'
import { type ApiSettings, apiDefaults } from '../core/http/settings.ts'
import type { Prices } from '../core/ports/prices.ts'
import type { Throttle } from '../core/ports/throttle.ts'
import { createAuthenticate } from '../core/services/authenticate.ts'
import { startDatabaseClock } from '../core/services/database-clock.ts'
import { createRecordNodeNotes } from '../exchange/operations/record-node-notes.ts'
import type { JournalingSigner, PublicKeys } from '../exchange/ports/signer.ts'
import type { Store } from '../exchange/ports/store/store.ts'
import { type BookSnapshot, createBookSnapshot } from '../exchange/quotes/book-snapshot.ts'
import { COMPARE_FEED_PACE_MS, createCompareFeed } from '../exchange/quotes/compare-feed.ts'
import { createRatesFeed, type RatesFeed, unservedFeed } from '../exchange/quotes/rates-feed.ts'
import { type RefreshBook, refreshBook, refreshBookOnce, SANDBOX_PRICES_MS } from '../exchange/quotes/refresh-book.ts'
import type { ServiceSettings } from '../exchange/settings.ts'
import type { Log } from '../lib/log.ts'
import { joinLoops, type Loop } from '../lib/loop.ts'
import type { PoolReads } from '../swap/interfaces.ts'
import { capReserves } from './cap-reserves.ts'
import { type ClosableChain, createChains, type NetworkNodes, type OnNodeNote, type Wallets } from './chains.ts'
import { createRenderers, type MailSettings, openEvents } from './events.ts'
import { createHttpServer, type HttpServer, type Services } from './http.ts'
import type { Metrics } from './metrics.ts'
import { mountPages } from './pages.ts'
import { repeat } from './repeat.ts'
import { requireEnvironment } from './require-environment.ts'
import { sandboxPageKey } from './sandbox-page-key.ts'
import { createServices } from './services.ts'
import { openSwaps, type SwapOffer } from './swaps.ts'
import { toPauses } from './to-pauses.ts'
import { type SharedDependencies, startWorkers } from './workers.ts'

/** The published API keys of the sandbox's two partners. */
export const sandboxKeys = ['sandbox', 'sandbox-b'] as const

export type Role = 'api' | 'worker' | 'all'

export type AppOptions = Readonly<{
  environment: Environment
  databaseUrl: string
  /** An already prepared database; closed with the app. */
  database?: Database
  poolMax: number
  nodes: readonly NetworkNodes[]
  /** Ready chains by network, used instead of adapters for their nodes. For tests and benchmarks. */
  chains?: ReadonlyMap<string, ClosableChain>
  /** The operator's overrides of single currencies, by asset. */
  overrides?: CurrencyOverrides
  publicKeys: PublicKeys
  /** Null in roles that do not sign. */
  signer: JournalingSigner | null
  /** Wallet files of families that need them (Monero). A cache: rebuilt from the seed. */
  walletFolder?: string
  walletSettings?: WalletSettings
  pepper: Uint8Array
  /** Payees that were accepted under it stay valid. */
  previousPepper?: Uint8Array | null
  /** Absent: no e-mails are sent. */
  mail?: MailSettings | null
  prices: Prices
  spreads: SpreadPolicy
  settings: ServiceSettings
  /** What each signer pays at most, by asset: quotes promise no more. Absent: any amount. */
  signerLimits?: OutflowLimits
  denied: readonly string[]
  /** The swap half. Absent: no network is served. */
  swaps?: SwapOffer
  /** The router thread, if it was opened before the networks were known. */
  routerThread?: Worker | null
  rateLimit: boolean
  api: Partial<ApiSettings> & Pick<ApiSettings, 'publicUrl'>
  log: Log
  metrics: Metrics
}>

/** Interval of logging the notes about nodes and raising their alarms, in ms. */
const NODE_NOTES_PACE_MS = 5_000

/** The composed program that all roles share. Created once, stopped once. */
export type App = Readonly<{
  store: Store
  database: Database
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
  books: BookSnapshot
  services: Services
  /** What the router of this process follows. */
  pools: PoolReads
  http: HttpServer
  /** Null: no limits (sandbox only). */
  throttle: Throttle | null
  /** Why the app is not ready while the start is still in progress. */
  starting: Set<string>
  /** Starts watchers, jobs, sweeps and reconciliation. Stopping the loop finishes work in progress. */
  startWorkers(): Promise<Loop>
  stop(): Promise<void>
}>

/** Opens the database and brings its schema up to date. Refuses a database of the other environment, and changes nothing there. */
export async function prepareDatabase(
  url: string,
  {
    environment,
    poolMax,
    poolWaitMs,
    log,
  }: Pick<AppOptions, 'environment' | 'poolMax' | 'log'> & Readonly<{ poolWaitMs?: number }>,
): Promise<Database> {
  const database = openDatabase(url, {
    max: poolMax,
    ...(poolWaitMs === undefined ? {} : { waitMs: poolWaitMs }),
    onIdleError: (err) => log.warn({ err }, 'database connection lost'),
  })
  try {
    await requireEnvironment(database, environment)
    await migrate(database)
    await prepareJobs(database)
    await claimEnvironment(database, environment)
    // Another start may have been first, or the migration has derived the environment from the data.
    await requireEnvironment(database, environment)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

export async function createApp(options: AppOptions): Promise<App> {
  const { environment, log, metrics } = options
  const onError = (error: unknown) => log.error({ err: error }, 'background work failed')
  const database = options.database ?? (await prepareDatabase(options.databaseUrl, options))
  const store = createStore(database, createPayeeMacs(options.pepper, options.previousPepper))
  const nodeNotes = createRecordNodeNotes({
    alarms: store.alarms,
    log,
    onNote: metrics.nodeNoted,
    now: () => performance.now(),
  })
  const { catalogue, chains } = connectChains(options, nodeNotes.add)
  await registerAddressesAndAssets(store, catalogue, chains)
  const clock = await startDatabaseClock(() => readClock(database), onError)
  const books = createBookSnapshot(emptyBookOf(options))
  const shared = { store, catalogue, chains, books, clock, database }
  const refresh = createRefreshBook(options, shared)
  const stopping = new AbortController()
  const starting = new Set<string>()
  await refreshBookOnce(refresh)
  const refreshing = refreshBook(refresh, stopping.signal)
  const { feed, stopFeed } = startFeed(options, shared, onError)
  const throttle = options.rateLimit ? createThrottle({ database, onError }) : null
  const { forget, ...authentication } = createAuthentication(options, shared)
  const events = openEvents(options, database)
  const changes = await listen(options.databaseUrl, events.onNotice(forget), onError)
  const swaps = await openSwaps(options, { database, catalogue, books, clock, onNodeNote: nodeNotes.add })
  // In every role: an API process reads nodes too.
  const recording = repeat(log, NODE_NOTES_PACE_MS, 'notes about nodes were not recorded', nodeNotes.turn)
  const services = createServices(options, { ...shared, ...authentication, feed, starting, swaps, events })
  const settings = { ...apiDefaults, ...options.api, throttle }
  const http = createHttpServer({ services, log, metrics, settings })
  const swapTokens = options.swaps?.ownTokens ?? new Map()
  const tracking = { services, settings }
  if (!options.api.operationsOnly)
    mountPages(http, { environment, settings, nodes: options.nodes, catalogue, chains, tracking, swapTokens })
  return {
    store,
    database,
    catalogue,
    chains,
    books,
    services,
    pools: swaps.pools,
    http,
    throttle,
    starting,
    startWorkers: async () =>
      joinLoops(
        await startWorkers(options, { ...shared, ...swaps }),
        events.startWorkers(createRenderers(store, services, settings.publicUrl)),
      ),
    stop: async () => {
      stopping.abort()
      await Promise.all([refreshing, stopFeed(), recording.stop(), clock.stop(), throttle?.close()])
      await Promise.all([changes.stop(), swaps.stop(), events.stop()])
      await Promise.all([...chains.values()].map((chain) => chain.close?.()))
      await database.close()
    },
  }
}

function connectChains(options: AppOptions, onNodeNote: OnNodeNote) {
  const { environment, nodes, publicKeys, overrides, chains } = options
  return createChains(environment, nodes, publicKeys, overrides, chains, walletsOf(options), onNodeNote)
}

/** Null without the seed, from which these wallets are built. */
function walletsOf({ signer, walletFolder, walletSettings: settings }: AppOptions): Wallets | null {
  const walletKey = signer?.walletKey
  return walletKey === undefined || walletFolder === undefined
    ? null
    : { folder: walletFolder, walletKey, ...(settings && { settings }) }
}

const emptyBookOf = (options: AppOptions) =>
  emptyBook(options.spreads, fixedRatesOf(options), options.settings.guards.stableBandPercent)

function fixedRatesOf({ settings: { guards } }: AppOptions): FixedRatePolicy {
  return {
    priceAgeMs: guards.fixedPriceAgeMs,
    reservePercent: guards.fixedReservePercent,
    partnerPercent: guards.fixedPartnerPercent,
  }
}

async function readClock(database: Database): Promise<Date> {
  const [row] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  return row?.now ?? new Date()
}

/** Registers hot addresses before any block is read, and an inventory row per asset. */
async function registerAddressesAndAssets(
  store: Store,
  catalogue: Catalogue,
  chains: ReadonlyMap<string, ClosableChain>,
): Promise<void> {
  await store.wallets.registerAssets(catalogue.list().map(({ asset }) => asset.id))
  for (const [id, { addresses, network }] of chains)
    await store.wallets.registerHotAddress(id, addresses.hot(), network.hotIndex)
}

/** The rates feed, and its comparison with what creates pay. */
function startFeed(
  { api, settings, metrics, log }: AppOptions,
  { store, catalogue, books, clock }: SharedDependencies,
  onError: (error: unknown) => void,
): Readonly<{ feed: RatesFeed; stopFeed(): Promise<void> }> {
  if (api.operationsOnly) return { feed: unservedFeed, stopFeed: async () => undefined }
  const currencies = catalogue.list()
  const codes = feedCodes(currencies)
  const feed = createRatesFeed({ currencies, codes, books, now: clock.now, onError })
  const compareFeed = createCompareFeed({
    feed,
    books,
    currencies,
    codes,
    alarms: store.alarms,
    toleranceBps: settings.guards.lastLookBps,
    now: clock.now,
    draw: randomInt,
    onCompared: metrics.feedCompared,
  })
  const comparing = repeat(log, COMPARE_FEED_PACE_MS, 'comparison of the rates feed failed', compareFeed)
  const stopFeed = async () => {
    feed.close()
    await comparing.stop()
  }
  return { feed, stopFeed }
}

function createAuthentication({ environment, pepper, rateLimit }: AppOptions, { database, clock }: SharedDependencies) {
  const isSandbox = environment === 'sandbox'
  return createAuthenticate({
    partners: createPartnerStore(database),
    pepper,
    sandboxKeys: isSandbox ? [...sandboxKeys, sandboxPageKey] : [],
    acceptsTestKeys: isSandbox,
    throttled: rateLimit,
    now: clock.now,
  })
}

function createRefreshBook(
  { environment, prices, metrics, log, settings, signerLimits = new Map() }: AppOptions,
  { store, catalogue, chains, books, clock }: SharedDependencies,
): RefreshBook {
  return {
    books,
    prices,
    chains: [...chains.values()],
    currencies: catalogue.list(),
    readReserves: async () => {
      const [available, fixed] = await Promise.all([store.inventory.available(), store.inventory.fixedStock()])
      const caps = {
        prices: books.current().prices,
        currencies: catalogue.list(),
        limits: settings.limits,
        signerLimits,
      }
      return { available, promised: capReserves(available, caps), fixed }
    },
    readPauses: async () => toPauses(await store.pauses.list(), [...chains.keys()]),
    now: clock.now,
    ...(environment === 'sandbox' ? { paceMs: { prices: SANDBOX_PRICES_MS } } : {}),
    onRead: (part, { error }) => {
      if (part === 'prices') metrics.priceAge((clock.now() - oldestTime(books.current().prices)) / 1000)
      if (error !== null) log.warn({ part, err: error }, 'a part of the book was not refreshed')
    },
  }
}
