import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const ROUTE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** Age limit of quotable pools on networks with short blocks (docs/pools.md). */
const UNKNOWN_MS = 30_000

export type RouterMetrics = Readonly<{
  routed(network: string, outcome: 'found' | 'refused', seconds: number): void
  poolsAt(network: string, at: Readonly<{ pools: number; height: number; head: number; readAtMs: number }>): void
  /** Totals since the start of the router thread. */
  poolFaults(network: string, totals: Readonly<{ reorgs: number; differences: number; rereads: number }>): void
  /** A partner's swap changed to this status. */
  swapMoved(network: string, status: string): void
  /** An aggregator quote was built. `penaltyPpm` reads the current penalty at each scrape. */
  aggregatorQuoteBuilt(network: string, source: string, paidInFull: boolean, penaltyPpm: () => number): void
}>

export function createRouterMetrics(registry: Registry): RouterMetrics {
  const registers = [registry]
  const labelNames = ['network'] as const
  const routes = new Histogram({
    name: 'swapyard_route_duration_seconds',
    help: 'Searches for routes',
    labelNames: ['network', 'outcome'] as const,
    buckets: ROUTE_BUCKETS,
    registers,
  })
  const pools = new Gauge({ name: 'swapyard_pools', help: 'Pools that are tracked', labelNames, registers })
  const block = new Gauge({
    name: 'swapyard_pools_block',
    help: 'Height of the block up to which the pools are read',
    labelNames,
    registers,
  })
  const behind = new Gauge({
    name: 'swapyard_pools_behind_blocks',
    help: 'Blocks between the newest reported by a node and that of the pools; NaN without a report for 30 s',
    labelNames,
    registers,
    collect() {
      // Without a node the number of new blocks is unknown.
      for (const [network, atMs] of readAt) if (Date.now() - atMs > UNKNOWN_MS) behind.set({ network }, Number.NaN)
    },
  })
  const readAt = new Map<string, number>()
  const age = new Gauge({
    name: 'swapyard_pools_age_seconds',
    help: 'Seconds since the pools were last current',
    labelNames,
    registers,
    collect() {
      for (const [network, atMs] of readAt) age.set({ network }, (Date.now() - atMs) / 1000)
    },
  })
  const swaps = new Counter({
    name: 'swapyard_swaps_total',
    help: 'Status changes of swaps; a swap that a reorg reopens is counted again',
    labelNames: ['network', 'status'] as const,
    registers,
  })
  const aggregatorQuoteBuilt = createAggregatorMetrics(registry)
  return {
    aggregatorQuoteBuilt,
    swapMoved: (network, status) => swaps.inc({ network, status }),
    routed: (network, outcome, seconds) => routes.observe({ network, outcome }, seconds),
    poolsAt(network, { pools: count, height, head, readAtMs }) {
      pools.set({ network }, count)
      block.set({ network }, height)
      behind.set({ network }, Math.max(0, head - height))
      readAt.set(network, readAtMs)
    },
    poolFaults: createFaultMetrics(registers),
  }
}

function createFaultMetrics(registers: Registry[]): RouterMetrics['poolFaults'] {
  const faults = new Counter({
    name: 'swapyard_pool_faults_total',
    help: 'Reorgs handled, pools that differed from the chain, full rereads of a network',
    labelNames: ['network', 'fault'] as const,
    registers,
  })
  const previousTotals = new Map<string, number>()
  return (network, totals) => {
    for (const [fault, total] of Object.entries(totals)) {
      const key = `${network} ${fault}`
      const before = previousTotals.get(key) ?? 0
      // A restarted thread counts from 0.
      faults.inc({ network, fault }, total >= before ? total - before : total)
      previousTotals.set(key, total)
    }
  }
}

function createAggregatorMetrics(registry: Registry): RouterMetrics['aggregatorQuoteBuilt'] {
  const registers = [registry]
  const built = new Counter({
    name: 'swapyard_outside_offers_total',
    help: 'Aggregator quotes that were built, by whether they paid what was quoted (outcome kept or broken)',
    labelNames: ['network', 'source', 'outcome'] as const,
    registers,
  })
  const penalties = new Map<string, Readonly<{ network: string; source: string; ppm: () => number }>>()
  const penalty = new Gauge({
    name: 'swapyard_outside_penalty_ppm',
    help: 'Penalty on the quotes of an aggregator for its shortfalls, in millionths',
    labelNames: ['network', 'source'] as const,
    registers,
    collect() {
      for (const { network, source, ppm } of penalties.values()) penalty.set({ network, source }, ppm())
    },
  })
  return (network, source, paidInFull, ppm) => {
    built.inc({ network, source, outcome: paidInFull ? 'kept' : 'broken' })
    penalties.set(`${network} ${source}`, { network, source, ppm })
  }
}
