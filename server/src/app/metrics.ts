import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createRouterMetrics, type RouterMetrics } from '../adapters/router/router-metrics.ts'
import type { PayoutPurpose } from '../core/domain/payout-purpose.ts'
import type { QueueMeasures } from '../events/ports/store.ts'

/** Seconds; up to the time in which a create must be answered. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const STEP_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What is measured. Every label is from a bounded set: routes as patterns, networks, assets, statuses; never an id or an address. */
export type Metrics = RouterMetrics &
  Readonly<{
    observeRequest(route: string, method: string, status: number, seconds: number): void
    quoted(outcome: 'quoted' | 'refused'): void
    created(outcome: 'created' | 'repeated' | 'refused'): void
    /** One step of one exchange, of whatever outcome. */
    stepped(step: string, seconds: number): void
    /** Blocks between a network's head and what was scanned. */
    watcherLag(network: string, blocks: number): void
    paid(network: string, purpose: PayoutPurpose, event: 'signed' | 'confirmed'): void
    jobFailed(job: string): void
    /** A read with reduced certainty: a block without traces, or a pruned state. */
    nodeNoted(network: string, note: string): void
    /** Whole coins, for a look: the exact units are in the ledger. Any value but 0 is an alarm. */
    ledgerDifference(assetId: string, coins: number): void
    ledgerFaults(count: number): void
    walletBalance(assetId: string, coins: number): void
    /** Sets the count of every status given; the others become 0. */
    openExchanges(counts: ReadonlyMap<string, number>): void
    /** Sets the count of every kind given; the others become 0. */
    openAlarms(counts: readonly Readonly<{ kind: string; severity: string; count: number }>[]): void
    priceAge(seconds: number): void
    /** A direction of the rates feed: whether a create pays what it states. */
    feedCompared(result: 'paid' | 'worse'): void
    /** A price of a source, or a whole source, that was not counted. */
    priceDropped(source: string, reason: string): void
    /** Size of the worker's signing journal, which grows for ever. */
    journalBytes(bytes: number): void
    /** Open event streams of this process. */
    eventStreams(count: number): void
    /** What waits to be published and delivered, with the age of the oldest in seconds. */
    eventQueues(queues: QueueMeasures): void
    webhookAttempt(outcome: 'delivered' | 'failed'): void
    /** Prometheus text. */
    render(): Promise<string>
    contentType: string
  }>

/** Methods that are a label; clients may send any. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** One instance per process. `defaults` adds the metrics of the process (CPU, memory, event loop). */
export function createMetrics({ defaults = true }: { defaults?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (defaults) collectDefaultMetrics({ register: registry, prefix: 'swapyard_' })
  const { counter, gauge, histogram } = createFactories(registry)
  const requests = histogram(
    'swapyard_http_request_duration_seconds',
    'Requests by route, method and status',
    REQUEST_BUCKETS,
    ['route', 'method', 'status'],
  )
  const quotes = counter('swapyard_quotes_total', 'Rate quotes', ['outcome'])
  // Both series exist from the start, so that a rate over them is defined.
  for (const outcome of ['quoted', 'refused']) quotes.inc({ outcome }, 0)
  const creates = counter('swapyard_creates_total', 'Exchanges asked for', ['outcome'])
  const steps = histogram('swapyard_exchange_step_duration_seconds', 'Steps of exchanges', STEP_BUCKETS, ['step'])
  const payouts = counter('swapyard_payouts_total', 'What left the wallets', ['network', 'purpose', 'event'])
  const failures = counter('swapyard_job_failures_total', 'Jobs that failed', ['job'])
  const notes = counter('swapyard_node_notes_total', 'Reads with reduced certainty', ['network', 'note'])
  const lag = gauge('swapyard_watcher_lag_blocks', 'Blocks not scanned yet', ['network'])
  const difference = gauge('swapyard_ledger_difference_coins', 'Wallets less ledger; any value but 0 is an alarm', [
    'asset',
  ])
  const ledgerFaults = gauge('swapyard_ledger_faults', 'Faults of the ledger; any value but 0 is an alarm', [])
  const balance = gauge('swapyard_wallet_balance_coins', 'What the wallets hold', ['asset'])
  const open = gauge('swapyard_open_exchanges', 'Exchanges in progress', ['status'])
  const alarms = gauge('swapyard_open_alarms', 'Open alarms without an acknowledgement', ['kind', 'severity'])
  const age = gauge('swapyard_price_age_seconds', 'Age of the oldest price in use', [])
  const comparisons = counter('swapyard_feed_comparisons_total', 'Directions of the feed compared with a create', [
    'result',
  ])
  for (const result of ['paid', 'worse'] as const) comparisons.inc({ result }, 0)
  const drops = counter('swapyard_price_drops_total', 'Prices that were not counted', ['source', 'reason'])
  const journal = gauge('swapyard_signing_journal_bytes', "Size of the worker's signing journal", [])
  return {
    ...createRouterMetrics(registry),
    observeRequest: (route, sentMethod, status, seconds) => {
      const method = METHODS.has(sentMethod) ? sentMethod : 'other'
      requests.observe({ route, method, status }, seconds)
    },
    quoted: (outcome) => quotes.inc({ outcome }),
    created: (outcome) => creates.inc({ outcome }),
    stepped: (step, seconds) => steps.observe({ step }, seconds),
    paid: (network, purpose, event) => payouts.inc({ network, purpose, event }),
    jobFailed: (job) => failures.inc({ job }),
    nodeNoted: (network, note) => notes.inc({ network, note }),
    watcherLag: (network, blocks) => lag.set({ network }, blocks),
    ledgerDifference: (asset, coins) => difference.set({ asset }, coins),
    ledgerFaults: (count) => ledgerFaults.set(count),
    walletBalance: (asset, coins) => balance.set({ asset }, coins),
    openExchanges(counts) {
      open.reset()
      for (const [status, count] of counts) open.set({ status }, count)
    },
    openAlarms(counts) {
      alarms.reset()
      for (const { kind, severity, count } of counts) alarms.set({ kind, severity }, count)
    },
    priceAge: (seconds) => age.set(seconds),
    feedCompared: (result) => comparisons.inc({ result }),
    priceDropped: (source, reason) => drops.inc({ source, reason }),
    journalBytes: (bytes) => journal.set(bytes),
    ...createEventMetrics({ counter, gauge }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function createEventMetrics({ counter, gauge }: Pick<ReturnType<typeof createFactories>, 'counter' | 'gauge'>) {
  const streams = gauge('swapyard_event_streams', 'Open event streams', [])
  const queue = gauge('swapyard_event_queue', 'Events to publish and deliveries to enabled webhooks', ['queue'])
  const queueAge = gauge('swapyard_event_queue_age_seconds', 'Age of the oldest of each queue', ['queue'])
  const attempts = counter('swapyard_webhook_attempts_total', 'Attempts to deliver an event', ['outcome'])
  for (const outcome of ['delivered', 'failed'] as const) attempts.inc({ outcome }, 0)
  return {
    eventStreams: (count: number) => streams.set(count),
    eventQueues: (queues: QueueMeasures) => {
      queue.set({ queue: 'publish' }, queues.unpublished)
      queue.set({ queue: 'deliver' }, queues.undelivered)
      queueAge.set({ queue: 'publish' }, queues.unpublishedSeconds)
      queueAge.set({ queue: 'deliver' }, queues.undeliveredSeconds)
    },
    webhookAttempt: (outcome: 'delivered' | 'failed') => attempts.inc({ outcome }),
  }
}

/** Creators of metrics in one registry. */
function createFactories(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, buckets: number[], labelNames: readonly Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  }
}
