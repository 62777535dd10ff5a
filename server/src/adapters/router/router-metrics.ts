import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const ROUTE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** As old as pools may be that are quoted from on the networks with short blocks (docs/pools.md). */
const UNKNOWN_MS = 30_000

export type RouterMetrics = Readonly<{
  routed(network: string, outcome: 'found' | 'refused', seconds: number): void
  poolsAt(network: string, at: Readonly<{ pools: number; height: number; head: number; readAtMs: number }>): void
  /** Totals since the router's thread began. */
  poolFaults(network: string, totals: Readonly<{ reorgs: number; differences: number; rereads: number }>): void
  /** A swap that a partner sent came to this status. */
  swapMoved(network: string, status: string): void
  /** An outside router's offer was built: whether it kept its word, and what is taken off its next ones, as it is then. */
  outsideBuilt(network: string, source: string, kept: boolean, penaltyPpm: () => number): void
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
  const pools = new Gauge({ name: 'swapyard_pools', help: 'Pools that are followed', labelNames, registers })
  const block = new Gauge({
    name: 'swapyard_pools_block',
    help: 'Block after which the pools are known',
    labelNames,
    registers,
  })
  const behind = new Gauge({
    name: 'swapyard_pools_behind_blocks',
    help: 'Blocks between the newest that a node told and that of the pools; NaN where none told any for 30 s',
    labelNames,
    registers,
    collect() {
      // The node that tells of new blocks is gone: nobody knows how many there are.
      for (const [network, atMs] of readAt) if (Date.now() - atMs > UNKNOWN_MS) behind.set({ network }, Number.NaN)
    },
  })
  const readAt = new Map<string, number>()
  const age = new Gauge({
    name: 'swapyard_pools_age_seconds',
    help: 'Since the pools were last known to be current',
    labelNames,
    registers,
    collect() {
      for (const [network, atMs] of readAt) age.set({ network }, (Date.now() - atMs) / 1000)
    },
  })
  const swaps = new Counter({
    name: 'swapyard_swaps_total',
    help: 'Statuses that swaps came to; one that a reorganisation opened again comes to its status again',
    labelNames: ['network', 'status'] as const,
    registers,
  })
  const outsideBuilt = createOutsideMetrics(registry)
  return {
    outsideBuilt,
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
    help: 'Reorgs undone, pools that differed from the chain, networks read anew',
    labelNames: ['network', 'fault'] as const,
    registers,
  })
  const seen = new Map<string, number>()
  return (network, totals) => {
    for (const [fault, total] of Object.entries(totals)) {
      const key = `${network} ${fault}`
      const before = seen.get(key) ?? 0
      // A thread that began again counts from nothing.
      faults.inc({ network, fault }, total >= before ? total - before : total)
      seen.set(key, total)
    }
  }
}

function createOutsideMetrics(registry: Registry): RouterMetrics['outsideBuilt'] {
  const registers = [registry]
  const built = new Counter({
    name: 'swapyard_outside_offers_total',
    help: 'Offers of outside routers that were built, by whether they kept what they offered',
    labelNames: ['network', 'source', 'outcome'] as const,
    registers,
  })
  const penalties = new Map<string, Readonly<{ network: string; source: string; ppm: () => number }>>()
  const penalty = new Gauge({
    name: 'swapyard_outside_penalty_ppm',
    help: 'Millionths that offers of an outside router count less, for what it did not keep',
    labelNames: ['network', 'source'] as const,
    registers,
    collect() {
      for (const { network, source, ppm } of penalties.values()) penalty.set({ network, source }, ppm())
    },
  })
  return (network, source, isKept, ppm) => {
    built.inc({ network, source, outcome: isKept ? 'kept' : 'broken' })
    penalties.set(`${network} ${source}`, { network, source, ppm })
  }
}
