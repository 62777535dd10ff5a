import { performance } from 'node:perf_hooks'
import { type LoadResult, median, quantile } from './load.ts'
import type { Process } from './processes.ts'

/** One side of a comparison: a load and the processes that answer it, without proxies and database. */
export type Side = Readonly<{
  processes: readonly Process[]
  /** Runs before each round, not measured. */
  prepare?(): Promise<void>
  run(ms: number): Promise<LoadResult>
}>

export type Spread = Readonly<{ median: number; lowest: number; highest: number }>

/** Ratios of all rounds, ours ÷ reference. Above 1, ours is faster. */
export type Comparison = Readonly<{
  /** By responses per second. */
  throughput: Spread
  /** By CPU time of the side's processes per response: what one core can answer, whatever client and proxy cost. */
  cpu: Spread
  /** Median responses per second. */
  ourPerSecond: number
  theirPerSecond: number
  /** Milliseconds of the timed requests of all rounds, in ascending order. */
  ourLatencies: readonly number[]
  theirLatencies: readonly number[]
  /** Highest event loop utilization of the client. Near 1, the client is the bottleneck. */
  clientUtilization: number
}>

export type Pace = Readonly<{ rounds: number; roundMs: number; warmUpMs: number }>

/** `cpuMs` of the side's processes per response. */
type Measurement = LoadResult & Readonly<{ cpuMs: number }>

/** Measures both sides in turn, in alternating order, so that other work of the machine affects both equally. */
export async function compare(reference: Side, ours: Side, pace: Pace): Promise<Comparison> {
  await warmUp(reference, pace.warmUpMs)
  await warmUp(ours, pace.warmUpMs)
  const pairs: { theirs: Measurement; ours: Measurement }[] = []
  let clientUtilization = 0
  for (let round = 0; round < pace.rounds; round++) {
    const before = performance.eventLoopUtilization()
    const first = await measure(round % 2 === 0 ? reference : ours, pace.roundMs)
    const second = await measure(round % 2 === 0 ? ours : reference, pace.roundMs)
    clientUtilization = Math.max(clientUtilization, performance.eventLoopUtilization(before).utilization)
    pairs.push(round % 2 === 0 ? { theirs: first, ours: second } : { theirs: second, ours: first })
  }
  return {
    throughput: spreadOf(pairs.map((pair) => pair.ours.perSecond / pair.theirs.perSecond)),
    cpu: spreadOf(pairs.map((pair) => pair.theirs.cpuMs / pair.ours.cpuMs)),
    ourPerSecond: median(pairs.map((pair) => pair.ours.perSecond)),
    theirPerSecond: median(pairs.map((pair) => pair.theirs.perSecond)),
    ourLatencies: latenciesOf(pairs.map((pair) => pair.ours)),
    theirLatencies: latenciesOf(pairs.map((pair) => pair.theirs)),
    clientUtilization,
  }
}

/** Runs the side until V8 has optimized its hot functions. */
export async function warmUp({ prepare, run }: Side, ms: number): Promise<void> {
  const endsAt = performance.now() + ms
  do {
    await prepare?.()
    await run(ms)
  } while (performance.now() < endsAt)
}

async function measure({ processes, prepare, run }: Side, ms: number): Promise<Measurement> {
  await prepare?.()
  const before = await cpuMsOf(processes)
  const result = await run(ms)
  return { ...result, cpuMs: ((await cpuMsOf(processes)) - before) / result.responses }
}

async function cpuMsOf(processes: readonly Process[]): Promise<number> {
  const usages = await Promise.all(processes.map((process) => process.usage()))
  return usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
}

const latenciesOf = (rounds: readonly LoadResult[]): readonly number[] =>
  rounds.flatMap(({ latencies }) => latencies).sort((a, b) => a - b)

const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  lowest: Math.min(...values),
  highest: Math.max(...values),
})

/** Whether at least a quarter of the rounds lies on each side of the goal: then their median says little about it. */
export function isUndecided(values: readonly number[], goal: number): boolean {
  const ascending = values.toSorted((a, b) => a - b)
  return quantile(ascending, 0.25) < goal && quantile(ascending, 0.75) >= goal
}

export const describeSpread = ({ median: middle, lowest, highest }: Spread): string =>
  `${middle.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`
