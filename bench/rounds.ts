import { performance } from 'node:perf_hooks'
import { type Load, type LoadResult, median, runLoad } from './load.ts'
import type { Process } from './processes.ts'

/** One side: what is sent, and the process that answers it. */
export type Side = Readonly<{ load: Load; process: Process }>

/** What two sides did in the same rounds. A ratio is ours ÷ theirs: above 1, we are faster. */
export type Comparison = Readonly<{
  ratio: number
  lowest: number
  highest: number
  /** The same by the CPU time of the server per answer, which other programs on the machine disturb least. */
  cpuRatio: number
  /** The share of its core that the client used at most: near 1, the client is what was measured. null = it stayed awake. */
  clientUtilization: number | null
}>

export type Pace = Readonly<{ rounds: number; roundMs: number; warmUpMs: number }>

/** `cpuMs` of the server per response. */
type Measurement = LoadResult & Readonly<{ cpuMs: number }>

/** Rounds in turn, theirs first in every other one, so that what else the machine does meets both sides alike. */
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
