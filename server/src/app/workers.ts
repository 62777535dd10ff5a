import type { Database } from '../adapters/postgres/core/database.ts'
import { isOwnAddress } from '../adapters/postgres/core/own-addresses.ts'
import { startJobs } from '../adapters/postgres/queue/job-runner.ts'
import { createInventoryVenue } from '../adapters/venues/inventory.ts'
import type { AssetId } from '../core/domain/asset.ts'
import type { Catalogue } from '../core/domain/catalogue.ts'
import { AppError } from '../core/domain/errors.ts'
import type { Environment } from '../core/domain/network.ts'
import type { Job } from '../core/ports/jobs.ts'
import type { DatabaseClock } from '../core/services/database-clock.ts'
import { jobFields } from '../core/services/job-fields.ts'
import { createCountFundings } from '../exchange/deposits/count-fundings.ts'
import { createRecordBlocks } from '../exchange/deposits/record-blocks.ts'
import { createRescanBlocks } from '../exchange/deposits/rescan-blocks.ts'
import { createSweepDeposits } from '../exchange/deposits/sweep-deposits.ts'
import { watchChain } from '../exchange/deposits/watch-chain.ts'
import { deadlinesOf } from '../exchange/domain/deadlines.ts'
import { createCheckLedger } from '../exchange/operations/check-ledger.ts'
import { createCompareJournal } from '../exchange/operations/compare-signing-journal.ts'
import { createPayMonthly, MONTHLY_TURN_MS, type PayMonthlyDeps } from '../exchange/operations/pay-monthly.ts'
import { pollDueRows } from '../exchange/operations/poll-due-rows.ts'
import { createReconcile } from '../exchange/operations/reconcile.ts'
import { createWatchComparisons } from '../exchange/operations/watch-comparisons.ts'
import { createWatchCursors } from '../exchange/operations/watch-cursors.ts'
import { createWatchJobs } from '../exchange/operations/watch-jobs.ts'
import { createWatchNonces } from '../exchange/operations/watch-nonces.ts'
import { createWatchOutflow } from '../exchange/operations/watch-outflow.ts'
import { createWatchPegs } from '../exchange/operations/watch-pegs.ts'
import { createWatchPromises } from '../exchange/operations/watch-promises.ts'
import { createWatchRefunds } from '../exchange/operations/watch-refunds.ts'
import { createWatchUnserved } from '../exchange/operations/watch-unserved.ts'
import { createAdvanceTransaction } from '../exchange/payouts/advance-transaction.ts'
import { createDispatchPayouts } from '../exchange/payouts/dispatch-payouts.ts'
import { createPlanOutputs } from '../exchange/payouts/plan-outputs.ts'
import type { JournalingSigner } from '../exchange/ports/signer.ts'
import type { Store } from '../exchange/ports/store/store.ts'
import type { BookSnapshot } from '../exchange/quotes/book-snapshot.ts'
import type { ServiceSettings } from '../exchange/settings.ts'
import { createStepExchange } from '../exchange/settlement/step-exchange.ts'
import { runSingly } from '../lib/coalesce.ts'
import type { Log } from '../lib/log.ts'
import { type Loop, startLoop } from '../lib/loop.ts'
import type { ClosableChain } from './chains.ts'
import type { Metrics } from './metrics.ts'
import { repeat, repeatForEach } from './repeat.ts'
import { createScreening } from './screening.ts'
import type { Swaps } from './swaps.ts'

/** What the workers share with the rest of the app. */
export type SharedDependencies = Readonly<{
  store: Store
  catalogue: Catalogue
  chains: ReadonlyMap<string, ClosableChain>
  books: BookSnapshot
  clock: DatabaseClock
  database: Database
}>

type WorkerDependencies = SharedDependencies & Pick<Swaps, 'trackSwap' | 'reconcileFees' | 'findFees'>

export type WorkerOptions = Readonly<{
  environment: Environment
  signer: JournalingSigner | null
  settings: ServiceSettings
  denied: readonly string[]
  log: Log
  metrics: Metrics
}>

/** Interval of the check for failing jobs and overdue rows, in ms. */
const WATCH_MS = 30_000
/** Interval of the signing-journal comparison, in ms: a database may be restored while workers run. */
const COMPARE_MS = 60_000

/** Starts the watchers, the jobs and the background loops. */
export async function startWorkers(options: WorkerOptions, dependencies: WorkerDependencies): Promise<Loop> {
  const { store, catalogue, chains, books } = dependencies
  const { log, metrics, settings, signer } = options
  if (!signer) throw new AppError('INTERNAL', 'a worker needs the signer')
  // Before anything is signed: a restored database must not repeat a payment that was already released.
  const comparing = await startComparing(dependencies, signer, options)
  const byAsset = new Map(catalogue.list().map((currency) => [currency.asset.id, currency]))
  const shared = {
    store,
    chains,
    books,
    signer,
    settings,
    log,
    assetById: catalogue.assetById,
    onPaid: metrics.paid,
    priceKeyOf: (id: AssetId) => byAsset.get(id)?.definition.priceKey ?? '',
    currencyOf: (id: AssetId) => byAsset.get(id) ?? null,
  }
  const byContract = new Map(catalogue.list().map(({ asset }) => [`${asset.network} ${asset.contract ?? ''}`, asset]))
  const assetOf = (network: string, contract: string | null) => byContract.get(`${network} ${contract ?? ''}`) ?? null
  const stepExchange = createStepExchange({
    ...shared,
    venue: createInventoryVenue(),
    screening: createScreening(options.denied, chains),
    clock: dependencies.clock,
  })
  const perform = {
    exchange: stepExchange,
    transaction: createAdvanceTransaction(shared),
    dispatch: runSingly(createDispatchPayouts(shared)),
    swap: dependencies.trackSwap,
  }
  const jobs = await startWatchedJobs(perform, options, dependencies)
  const recordBlocks = createRecordBlocks({ ...shared, assetOf })
  const countFundings = createCountFundings(shared)
  const rescanBlocks = createRescanBlocks({ ...shared, assetOf })
  const loops = [...chains.values()].map((chain) =>
    watchChain({
      chain,
      recordBlocks,
      countFundings,
      rescanBlocks,
      onProgress: (network, { behind }) => metrics.watcherLag(network, behind),
      onError: (network, err) => log.warn({ network, err }, 'watcher pass failed'),
    }),
  )
  loops.push(pollDueRows({ store, chains, onError: (err) => log.warn({ err }, 'poll for due rows failed') }))
  loops.push(comparing, ...startPeriodicWork(options, dependencies, shared))
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
      await jobs.stop()
    },
  }
}

/** Runs jobs, and raises alarms for jobs that keep failing and rows past their deadline. */
async function startWatchedJobs(
  perform: Readonly<Record<Job['kind'], (id: string) => Promise<void>>>,
  { settings, log, metrics }: WorkerOptions,
  { store, database }: WorkerDependencies,
): Promise<Loop> {
  const watchJobs = createWatchJobs({ store, deadlines: deadlinesOf(settings.expiryMs), log })
  const jobs = await startJobs({
    database,
    concurrency: 8,
    perform: async ({ kind, id }: Job) => {
      const startedAt = performance.now()
      await perform[kind](id).finally(() => metrics.stepped(kind, (performance.now() - startedAt) / 1000))
      await watchJobs.succeeded({ kind, id })
    },
    onError: (job, err) => {
      metrics.jobFailed(job.kind)
      log.error({ ...jobFields(job), err }, 'job failed')
      watchJobs
        .failed(job, err)
        .catch((error: unknown) => log.warn({ ...jobFields(job), err: error }, 'job failure was not recorded'))
    },
  })
  const watching = startLoop({
    paceMs: WATCH_MS,
    backoffMs: WATCH_MS,
    turn: async () => void (await watchJobs.turn()),
    onError: (err) => log.warn({ err }, 'check for overdue rows failed'),
  })
  return {
    stop: async () => {
      await watching.stop()
      await jobs.stop()
    },
  }
}

async function startComparing(
  { store, chains }: Pick<WorkerDependencies, 'store' | 'chains'>,
  { journal }: JournalingSigner,
  { environment, log, metrics }: WorkerOptions,
): Promise<Loop> {
  const areNewConfirmed = environment === 'production'
  const compareJournal = createCompareJournal({
    ...{ store, journal, log, areNewConfirmed, onSize: metrics.journalBytes },
    changeAddress: (network, index) => chains.get(network)?.addresses.change(index) ?? null,
  })
  await compareJournal('all')
  return repeat(log, COMPARE_MS, 'comparison with the signing journal failed', () => compareJournal('newest'))
}

/** As a number for a gauge; the alarm has the exact units. */
const wholeCoins = (units: bigint, decimals: number): number => Number(units) / 10 ** decimals

/**
 * Starts what is done at fixed intervals: sweeps, plans of outputs, monthly payouts, comparisons with chains and ledger, checks
 * that raise alarms, and gauges.
 */
function startPeriodicWork(
  { environment, denied, log, metrics, settings }: WorkerOptions,
  { store, catalogue, chains, database, reconcileFees, findFees, clock }: WorkerDependencies,
  shared: Parameters<typeof createSweepDeposits>[0] & Pick<PayMonthlyDeps, 'currencyOf'>,
): Loop[] {
  const sweepDeposits = createSweepDeposits(shared)
  const isSandbox = environment === 'sandbox'
  const reconcilePaceMs = isSandbox ? 10_000 : 60_000
  const reconcile = createReconcile({
    store,
    assetById: shared.assetById,
    log,
    addressesEveryMs: reconcilePaceMs / 2,
    onDifference: (id, units) => metrics.ledgerDifference(id, wholeCoins(units, shared.assetById(id).decimals)),
  })
  const each = { log, networks: chains }
  const watchOutflow = createWatchOutflow({ store, settings })
  const watchPegs = createWatchPegs({ store, books: shared.books, currencies: catalogue.list() })
  const watchPromises = createWatchPromises({ store })
  const watchRefunds = createWatchRefunds({ store })
  const watchCursors = createWatchCursors({ store, networks: [...chains.keys()] })
  const watchComparisons = createWatchComparisons({ store, networks: [...chains.keys()] })
  const watchUnserved = createWatchUnserved({ store, networks: [...chains.keys()] })
  const payMonthly = createPayMonthly({
    ...shared,
    settings,
    clock,
    networkOf: (id) => shared.assetById(id).network,
    screening: createScreening(denied, chains),
    isOwnAddress: (address) => isOwnAddress(database, address),
  })
  const checkLedger = createCheckLedger({ store, log, onFaults: metrics.ledgerFaults })
  return [
    ...repeatForEach(each, 5_000, 'sweep failed', sweepDeposits),
    ...repeatForEach(each, reconcilePaceMs, 'reconciliation failed', reconcile),
    ...repeatForEach(each, isSandbox ? 5_000 : 30_000, 'check of the nonces failed', createWatchNonces({ store, log })),
    ...repeatForEach(each, 30_000, 'plan of outputs failed', createPlanOutputs({ ...shared, settings })),
    repeat(log, reconcilePaceMs, 'comparison of partner fees failed', reconcileFees),
    ...repeatForEach(
      { log, networks: findFees },
      isSandbox ? 5_000 : 30_000,
      'scan for fees of unreported swaps failed',
      async (find) => ((await find()) ? 'again' : undefined),
    ),
    repeat(log, isSandbox ? 10_000 : 3_600_000, 'check of the ledger failed', checkLedger),
    repeat(log, isSandbox ? 5_000 : 30_000, 'check of the outflow limits failed', watchOutflow),
    repeat(log, isSandbox ? 5_000 : 30_000, 'check of the pegs failed', watchPegs),
    repeat(log, isSandbox ? 5_000 : 30_000, 'check of the promises failed', watchPromises),
    repeat(log, isSandbox ? 10_000 : MONTHLY_TURN_MS, 'monthly payouts failed', payMonthly),
    repeat(log, 30_000, 'check for stalled networks failed', watchCursors),
    repeat(log, 60_000, 'check for networks that are not compared failed', watchComparisons),
    repeat(log, 60_000, 'check for networks that are not configured failed', watchUnserved),
    repeat(log, isSandbox ? 5_000 : 60_000, 'check of the refunds failed', watchRefunds),
    repeat(log, 5_000, 'gauges were not updated', async () => {
      metrics.openExchanges(await store.reconciliation.openByStatus())
      metrics.openAlarms(await store.alarms.count())
      for (const [id, units] of await store.ledger.balances('asset:wallet'))
        metrics.walletBalance(id, wholeCoins(units, shared.assetById(id).decimals))
    }),
  ]
}
