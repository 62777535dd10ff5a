import { performance } from 'node:perf_hooks'
import { type Load, type LoadResult, median, runLoad } from './load.ts'
import type { Process } from './processes.ts'

/** A load and the process that answers it. */
export type Side = Readonly<{ load: Load; process: Process }>

/** Ratios of throughput, ours ÷ reference, over all rounds. Above 1, ours is faster. */
export type Comparison = Readonly<{
  /** Median of the rounds. */
  ratio: number
  lowest: number
  highest: number
  /** Median ratio by the server's CPU time per response, which other programs on the machine disturb least. */
  cpuRatio: number
  /** Highest event loop utilization of the client. Near 1, the client is the bottleneck. null: the client busy-waits. */
  clientUtilization: number | null
}>

export type Pace = Readonly<{ rounds: number; roundMs: number; warmUpMs: number }>

/** `cpuMs` of the server per response. */
type Measurement = LoadResult & Readonly<{ cpuMs: number }>

/** Measures both sides in turn, in alternating order, so that other work of the machine affects both equally. */
export async function compare(reference: Side, ours: Side, pace: Pace): Promise<Comparison> {
  await runLoad(reference.load, pace.warmUpMs)
  await runLoad(ours.load, pace.warmUpMs)
  const ratios: number[] = []
  const cpuRatios: number[] = []
  let clientUtilization = 0
  for (let round = 0; round < pace.rounds; round++) {
    const before = performance.eventLoopUtilization()
    const first = await measure(round % 2 === 0 ? reference : ours, pace.roundMs)
    const second = await measure(round % 2 === 0 ? ours : reference, pace.roundMs)
    clientUtilization = Math.max(clientUtilization, performance.eventLoopUtilization(before).utilization)
    const [theirResult, ourResult] = round % 2 === 0 ? [first, second] : [second, first]
    ratios.push(ourResult.perSecond / theirResult.perSecond)
    cpuRatios.push(theirResult.cpuMs / ourResult.cpuMs)
  }
  return {
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    cpuRatio: median(cpuRatios),
    clientUtilization: ours.load.busyWaits ? null : clientUtilization,
  }
}

async function measure({ load, process }: Side, ms: number): Promise<Measurement> {
  const before = await process.usage()
  const result = await runLoad(load, ms)
  const after = await process.usage()
  return { ...result, cpuMs: (after.cpuMs - before.cpuMs) / result.responses }
}
