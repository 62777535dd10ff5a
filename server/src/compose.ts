import { createPartnerStore } from './adapters/postgres/partners.ts'
import { createThrottle } from './adapters/postgres/throttle.ts'
import { type Database, openDatabase } from './adapters/postgres/database.ts'
import { prepareJobs, startJobs } from './adapters/postgres/job-runner.ts'
import { migrate } from './adapters/postgres/migrate.ts'
import { listen } from './adapters/postgres/listen.ts'
import { createStore } from './adapters/postgres/store.ts'
import { createDenyList } from './adapters/screening/deny-list.ts'
import { createInventoryVenue } from './adapters/venues/inventory.ts'
import { type App, buildApp } from './api/app.ts'
import { type ApiSettings, apiDefaults } from './api/settings.ts'
import { type ClosableChain, composeChains, type CurrencyOverrides, type NetworkNodes } from './compose-chains.ts'
import { emptyBook, type SpreadPolicy } from './domain/book.ts'
import { type Catalogue, feedCodes } from './domain/catalogue.ts'
import type { AssetId } from './domain/asset.ts'
import { AppError } from './domain/errors.ts'
import type { Environment } from './domain/network.ts'
import { type PriceSnapshot, unitsWorth } from './domain/price.ts'
import { createBatcher } from './lib/batch.ts'
import { smallest } from './lib/bigint.ts'
import type { Log } from './lib/log.ts'
import { type Loop, startLoop } from './lib/loop.ts'
import type { Metrics } from './lib/metrics.ts'
import type { Prices } from './ports/prices.ts'
import type { PublicKeys, Signer } from './ports/signer.ts'
import type { Job, Store } from './ports/store.ts'
import { createAdvanceTransaction } from './services/advance-transaction.ts'
import { createAuthenticate } from './services/authenticate.ts'
import { type BookSnapshot, createBookSnapshot } from './services/book-snapshot.ts'
import { createCreateExchange } from './services/create-exchange.ts'
import { type DatabaseClock, startDatabaseClock } from './services/database-clock.ts'
import { createDepositAddresses } from './services/deposit-addresses.ts'
import { createDispatchPayouts } from './services/dispatch-payouts.ts'
import { createFindExchange, createListExchanges } from './services/find-exchange.ts'
import type { Services } from './services/interfaces.ts'
import { createListCurrencies } from './services/list-currencies.ts'
import { createOpenCounts } from './services/open-counts.ts'
import { createQuoteRate } from './services/quote-rate.ts'
import { createRateIds } from './services/rate-id.ts'
import { createRatesFeed } from './services/rates-feed.ts'
import { createReconcile } from './services/reconcile.ts'
import { createRecordBlocks } from './services/record-blocks.ts'
import type { ServiceSettings } from './services/settings.ts'
import { createStepExchange } from './services/step-exchange.ts'
import { createCountFundings, createSweepDeposits } from './services/sweep-deposits.ts'
import { type RefreshBook, refreshBook, refreshBookOnce } from './workers/refresh-book.ts'
import { sweepRows } from './workers/sweep-rows.ts'
import { watchChain } from './workers/watch-chain.ts'

/** The plain keys of the sandbox's two partners. */
export const sandboxKeys = ['sandbox', 'sandbox-b'] as const

export type Role = 'api' | 'worker' | 'all'

export type HouseOptions = Readonly<{
  environment: Environment
  databaseUrl: string
  poolMax: number
  nodes: readonly NetworkNodes[]
  /** Chains that are there already, by network: used in place of an adapter for its nodes. For tests and benchmarks. */
  chains?: ReadonlyMap<string, ClosableChain>
  /** What the operator's file says of single currencies, by asset. */
  overrides?: CurrencyOverrides
  publicKeys: PublicKeys
  /** Opened by the roles that sign; null elsewhere. */
  signer: Signer | null
  pepper: Uint8Array
  prices: Prices
  spreads: SpreadPolicy
  settings: ServiceSettings
  denied: readonly string[]
  rateLimit: boolean
  api: Partial<ApiSettings> & Pick<ApiSettings, 'publicUrl'>
  log: Log
  metrics: Metrics
}>

/** Everything that the roles share: built once, stopped once. */
export type House = Readonly<{
  store: Store
  database: Database
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
  books: BookSnapshot
  services: Services
  app: App
  /** Reasons not to be ready that a start still works on. */
  starting: Set<string>
  /** Watchers, jobs, sweepers, reconciler. Stops finish what is under way. */
  startWorkers(): Promise<Loop>
  stop(): Promise<void>
}>

export async function composeHouse(options: HouseOptions): Promise<House> {
  const { environment, log, metrics } = options
  const onError = (error: unknown) => log.error({ err: error }, 'background work failed')
  const database = openDatabase(options.databaseUrl, { max: options.poolMax, onIdleError: (err) => log.warn({ err }, 'database connection lost') })
  await migrate(database)
  await prepareJobs(database)
  const store = createStore(database)
  const { catalogue, chains } = composeChains(environment, options.nodes, options.publicKeys, options.overrides, options.chains)
  await registerHouse(store, catalogue, chains)
  const clock = await startDatabaseClock(() => readClock(database), onError)
  const books = createBookSnapshot(emptyBook(options.spreads))
  const refresh = refreshParts(options, { store, catalogue, chains, books, clock })
  const stopping = new AbortController()
  const starting = new Set<string>()
  await refreshBookOnce(refresh)
  const refreshing = refreshBook(refresh, stopping.signal)
  const feed = createRatesFeed({ currencies: catalogue.list(), codes: feedCodes(catalogue.list()), books, now: clock.now, onError })
  const throttle = options.rateLimit ? createThrottle({ database, onError }) : null
  const { authenticate, forget } = composeAuthentication(options, database, clock)
  const changes = await listen(options.databaseUrl, 'partners_changed', forget, onError)
  const services = composeServices(options, { store, catalogue, chains, books, clock, database, feed: feed.ratesFeed, authenticate, starting })
  const app = buildApp({ services, log, metrics, settings: { ...apiDefaults, ...options.api, throttle } })
  return {
    store, database, catalogue, chains, books, services, app, starting,
    startWorkers: () => startWorkers(options, { store, catalogue, chains, books, clock, database }),
    stop: async () => {
      stopping.abort()
      feed.close()
      await Promise.all([refreshing, clock.stop(), throttle?.close(), changes.stop()])
      await Promise.all([...chains.values()].map((chain) => chain.close?.()))
      await database.close()
    },
  }
}

function composeAuthentication({ environment, pepper, rateLimit }: HouseOptions, database: Database, { now }: DatabaseClock) {
  const known = environment === 'sandbox' ? sandboxKeys : []
  return createAuthenticate({ partners: createPartnerStore(database), pepper, sandboxKeys: known, throttled: rateLimit, now })
}

type Rooms = Readonly<{ store: Store; catalogue: Catalogue; chains: ReadonlyMap<string, ClosableChain>; books: BookSnapshot; clock: DatabaseClock; database: Database }>

async function readClock(database: Database): Promise<Date> {
  const [row] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  return row?.now ?? new Date()
}

/** Hot addresses are ours before any block is read; every asset has its line in the inventory. */
async function registerHouse(store: Store, catalogue: Catalogue, chains: ReadonlyMap<string, ClosableChain>): Promise<void> {
  await store.custody.registerAssets(catalogue.list().map(({ asset }) => asset.id))
  for (const [network, chain] of chains) await store.custody.registerHouse(network, chain.addresses.hot())
}

/** Nothing above the limit of one payout is on offer: it would be held for a person. */
function capped(available: ReadonlyMap<AssetId, bigint>, prices: PriceSnapshot, catalogue: Catalogue, limitUsd: bigint): ReadonlyMap<AssetId, bigint> {
  const result = new Map<AssetId, bigint>()
  for (const { asset, definition } of catalogue.list()) {
    const units = available.get(asset.id)
    const price = prices.usd.get(definition.priceKey)
    if (units === undefined || price === undefined) continue
    result.set(asset.id, smallest(units, unitsWorth(limitUsd, asset, price.ask, 'down')))
  }
  return result
}

function refreshParts({ prices, metrics, log, settings }: HouseOptions, { store, catalogue, chains, books, clock }: Omit<Rooms, 'database'>): RefreshBook {
  return {
    books,
    prices,
    chains: [...chains.values()],
    currencies: catalogue.list(),
    readReserves: async () => capped(await store.inventory.available(), books.current().prices, catalogue, settings.limits.perTransactionUsd),
    readPauses: async () => {
      const scopes = (await store.audit.pauses()).map(({ scope }) => scope)
      const named = (prefix: string) => new Set(scopes.flatMap((scope) => (scope.startsWith(prefix) ? [scope.slice(prefix.length)] : [])))
      const all = scopes.includes('all') ? [...chains.keys()] : []
      return { networks: new Set([...named('network:'), ...all]), assets: named('asset:') as ReadonlySet<`${string}@${string}`> }
    },
    now: clock.now,
    onRead: (part, { error }) => {
      if (part === 'prices') metrics.priceAge((clock.now() - books.current().prices.at) / 1000)
      if (error !== null) log.warn({ part, err: error }, 'book part not read')
    },
  }
}

function composeServices(options: HouseOptions, rooms: Rooms & Pick<Services, 'authenticate'> & { feed: Services['ratesFeed']; starting: ReadonlySet<string> }): Services {
  const { store, catalogue, chains, books, clock } = rooms
  const { settings } = options
  const rateIds = createRateIds(options.pepper)
  const quoteRate = createQuoteRate({ catalogue, books, rateIds, clock, rateIdTtlMs: settings.rateIdMs })
  const { metrics } = options
  const commit = createBatcher(store.exchanges.create, { most: 100, running: 2 })
  return {
    authenticate: rooms.authenticate,
    listCurrencies: createListCurrencies({ currencies: catalogue.list(), books }),
    quoteRate: counted(quoteRate, () => metrics.quoted('quoted'), () => metrics.quoted('refused')),
    createExchange: createCreateExchange({
      catalogue, books, clock, chains, rateIds, quoteRate, settings,
      commit: async (row) => {
        const outcome = await commit(row)
        metrics.created(outcome.kind === 'created' || outcome.kind === 'repeated' ? outcome.kind : 'refused')
        return outcome
      },
      takeDeposit: createDepositAddresses(chains, store.exchanges.takeKeyIndexes),
      findRepeated: store.exchanges.findRepeated,
      countOpen: createOpenCounts({ countOpen: store.exchanges.countOpen, now: clock.now }),
      screening: createDenyList(options.denied),
    }),
    findExchange: createFindExchange(store),
    listExchanges: createListExchanges(store),
    ratesFeed: rooms.feed,
    readiness: () => [...rooms.starting, ...readiness(rooms)],
  }
}

/** The same function, with what comes of it counted. */
function counted<Args extends unknown[], R>(work: (...args: Args) => R, onDone: () => void, onRefused: () => void): (...args: Args) => R {
  return (...args) => {
    try {
      const result = work(...args)
      onDone()
      return result
    } catch (error) {
      onRefused()
      throw error
    }
  }
}

/** Why quotes or creates would fail now. A sandbox or a house without coins is not ready: it has nothing to pay out. */
function readiness({ catalogue, books, chains, clock }: Rooms): readonly string[] {
  const reasons: string[] = []
  const { prices, reserves } = books.current()
  if (clock.now() - prices.at > 30_000) reasons.push('there are no current prices')
  if (clock.now() - reserves.at > 60_000) reasons.push('the reserves are not known')
  const stocked = [...chains.keys()].filter((network) => catalogue.list().some(({ asset }) => asset.network === network && (reserves.available.get(asset.id) ?? 0n) > 0n))
  if (stocked.length < Math.min(chains.size, 2)) reasons.push('the hot wallets are empty: bring coins to their addresses')
  return reasons
}

async function startWorkers(options: HouseOptions, rooms: Rooms): Promise<Loop> {
  const { store, catalogue, chains, books, database } = rooms
  const { log, metrics, settings, signer } = options
  if (!signer) throw new AppError('INTERNAL', 'a worker needs the signer')
  const byAsset = new Map(catalogue.list().map((currency) => [currency.asset.id, currency]))
  const shared = {
    store, chains, books, signer, settings, log,
    assetById: catalogue.assetById,
    onPaid: metrics.paid,
    priceKeyOf: (id: string) => byAsset.get(id as `${string}@${string}`)?.definition.priceKey ?? '',
  }
  const byContract = new Map(catalogue.list().map(({ asset }) => [`${asset.network} ${asset.contract ?? ''}`, asset]))
  const assetOf = (network: string, contract: string | null) => byContract.get(`${network} ${contract ?? ''}`) ?? null
  const stepExchange = createStepExchange({ ...shared, currencyOf: (id) => byAsset.get(id) ?? null, venue: createInventoryVenue(), screening: createDenyList(options.denied), clock: rooms.clock })
  const perform = { exchange: stepExchange, transaction: createAdvanceTransaction(shared), dispatch: createDispatchPayouts(shared) }
  const jobs = await startJobs({
    database,
    concurrency: 8,
    perform: async ({ kind, id }: Job) => {
      const startedAt = performance.now()
      await perform[kind](id).finally(() => metrics.stepped(kind, (performance.now() - startedAt) / 1000))
    },
    onError: (job, err) => {
      metrics.jobFailed(job.kind)
      log.error({ ...job, err }, 'job failed')
    },
  })
  const recordBlocks = createRecordBlocks({ ...shared, assetOf })
  const countFundings = createCountFundings(shared)
  const loops = [...chains.values()].map((chain) =>
    watchChain({
      chain, recordBlocks, countFundings,
      onProgress: (network, { behind }) => metrics.watcherLag(network, behind),
      onError: (network, err) => log.warn({ network, err }, 'watcher turn failed'),
    }),
  )
  loops.push(sweepRows({ store, chains, onError: (err) => log.warn({ err }, 'row sweep failed') }))
  loops.push(...slowLoops(options, rooms, shared))
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
      await jobs.stop()
    },
  }
}

/** For a gauge that is looked at: the exact units stand in the alarm. */
const wholeCoins = (units: bigint, decimals: number): number => Number(units) / 10 ** decimals

/** Sweeping and reconciling: nobody waits for them. */
function slowLoops({ environment, log, metrics }: HouseOptions, { store, chains }: Rooms, shared: Parameters<typeof createSweepDeposits>[0]): Loop[] {
  const sweepDeposits = createSweepDeposits(shared)
  const reconcile = createReconcile({ store, assetById: shared.assetById, log, onDifference: (id, units) => metrics.ledgerDifference(id, wholeCoins(units, shared.assetById(id).decimals)) })
  const each = (paceMs: number, name: string, work: (chain: ClosableChain) => Promise<void>) =>
    startLoop({
      paceMs,
      backoffMs: 60_000,
      turn: async () => {
        for (const chain of chains.values()) await work(chain).catch((err: unknown) => log.warn({ network: chain.network.id, err }, `${name} failed`))
        return undefined
      },
      onError: (err) => log.warn({ err }, `${name} failed`),
    })
  const reconcilePaceMs = environment === 'sandbox' ? 10_000 : 60_000
  const gauges = startLoop({
    paceMs: 5_000,
    backoffMs: 60_000,
    turn: async () => {
      metrics.openExchanges(await store.audit.openByStatus())
      for (const [id, units] of await store.ledger.balances('asset:wallet')) metrics.walletBalance(id, wholeCoins(units, shared.assetById(id).decimals))
      return undefined
    },
    onError: (err) => log.warn({ err }, 'gauges not read'),
  })
  return [each(5_000, 'sweep', sweepDeposits), each(reconcilePaceMs, 'reconciliation', reconcile), gauges]
}
