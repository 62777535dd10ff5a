import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createRouterMetrics, type RouterMetrics } from '../adapters/router/router-metrics.ts'

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
    paid(
      network: string,
      purpose: 'payout' | 'refund' | 'sweep' | 'gas' | 'withdrawal',
      event: 'signed' | 'confirmed',
    ): void
    jobFailed(job: string): void
    /** Whole coins, for a look: the exact units are in the ledger. Any value but 0 is an alarm. */
    ledgerDifference(assetId: string, coins: number): void
    walletBalance(assetId: string, coins: number): void
    /** Sets the count of every status given; the others become 0. */
    openExchanges(counts: ReadonlyMap<string, number>): void
    priceAge(seconds: number): void
    /** Prometheus text. */
    render(): Promise<string>
    contentType: string
  }>

/** One instance per process. `defaults` adds the metrics of the process (CPU, memory, event loop). */
export function createMetrics({ defaults = true }: { defaults?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (defaults) collectDefaultMetrics({ register: registry, prefix: 'swapyard_' })
  return {
    ...createRequestMetrics(registry),
    ...createRateMetrics(registry),
    ...createWorkMetrics(registry),
    ...createGauges(registry),
    ...createRouterMetrics(registry),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/** Methods that are a label; clients may send any. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function createRequestMetrics(registry: Registry): Pick<Metrics, 'observeRequest'> {
  const requests = new Histogram({
    name: 'swapyard_http_request_duration_seconds',
    help: 'Requests by route, method and status',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: REQUEST_BUCKETS,
    registers: [registry],
  })
  return {
    observeRequest: (route, sentMethod, status, seconds) => {
      const method = METHODS.has(sentMethod) ? sentMethod : 'other'
      requests.observe({ route, method, status }, seconds)
    },
  }
}

function createRateMetrics(registry: Registry): Pick<Metrics, 'quoted' | 'created'> {
  const registers = [registry]
  const quotes = new Counter({
    name: 'swapyard_quotes_total',
    help: 'Rate quotes',
    labelNames: ['outcome'] as const,
    registers,
  })
  // Both series exist from the start, so that a rate over them is defined.
  for (const outcome of ['quoted', 'refused']) quotes.inc({ outcome }, 0)
  const creates = new Counter({
    name: 'swapyard_creates_total',
    help: 'Exchanges asked for',
    labelNames: ['outcome'] as const,
    registers,
  })
  return {
    quoted: (outcome) => quotes.inc({ outcome }),
    created: (outcome) => creates.inc({ outcome }),
  }
}

function createWorkMetrics(registry: Registry): Pick<Metrics, 'stepped' | 'paid' | 'jobFailed'> {
  const registers = [registry]
  const steps = new Histogram({
    name: 'swapyard_exchange_step_duration_seconds',
    help: 'Steps of exchanges',
    labelNames: ['step'] as const,
    buckets: STEP_BUCKETS,
    registers,
  })
  const payouts = new Counter({
    name: 'swapyard_payouts_total',
    help: 'What left the wallets',
    labelNames: ['network', 'purpose', 'event'] as const,
    registers,
  })
  const failures = new Counter({
    name: 'swapyard_job_failures_total',
    help: 'Jobs that failed',
    labelNames: ['job'] as const,
    registers,
  })
  return {
    stepped: (step, seconds) => steps.observe({ step }, seconds),
    paid: (network, purpose, event) => payouts.inc({ network, purpose, event }),
    jobFailed: (job) => failures.inc({ job }),
  }
}

function createGauges(
  registry: Registry,
): Pick<Metrics, 'watcherLag' | 'ledgerDifference' | 'walletBalance' | 'openExchanges' | 'priceAge'> {
  const registers = [registry]
  const lag = new Gauge({
    name: 'swapyard_watcher_lag_blocks',
    help: 'Blocks not scanned yet',
    labelNames: ['network'] as const,
    registers,
  })
  const difference = new Gauge({
    name: 'swapyard_ledger_difference_coins',
    help: 'Wallets less ledger; any value but 0 is an alarm',
    labelNames: ['asset'] as const,
    registers,
  })
  const balance = new Gauge({
    name: 'swapyard_wallet_balance_coins',
    help: 'What the wallets hold',
    labelNames: ['asset'] as const,
    registers,
  })
  const open = new Gauge({
    name: 'swapyard_open_exchanges',
    help: 'Exchanges in progress',
    labelNames: ['status'] as const,
    registers,
  })
  const age = new Gauge({ name: 'swapyard_price_age_seconds', help: 'Age of the oldest price in use', registers })
  return {
    watcherLag: (network, blocks) => lag.set({ network }, blocks),
    ledgerDifference: (asset, coins) => difference.set({ asset }, coins),
    walletBalance: (asset, coins) => balance.set({ asset }, coins),
    openExchanges(counts) {
      open.reset()
      for (const [status, count] of counts) open.set({ status }, count)
    },
    priceAge: (seconds) => age.set(seconds),
  }
}
