import { performance } from 'node:perf_hooks'
import { drive, type Load, median, type Run } from './load.ts'
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
  clientBusy: number | null
}>

export type Pace = Readonly<{ rounds: number; roundMs: number; warmUpMs: number }>

type Measured = Run & Readonly<{ cpuMs: number }>

/** Rounds in turn, theirs first in every other one, so that what else the machine does meets both sides alike. */
export async function compare(theirs: Side, ours: Side, pace: Pace): Promise<Comparison> {
  await drive(theirs.load, pace.warmUpMs)
  await drive(ours.load, pace.warmUpMs)
  const ratios: number[] = []
  const cpuRatios: number[] = []
  let clientBusy = 0
  for (let round = 0; round < pace.rounds; round++) {
    const before = performance.eventLoopUtilization()
    const first = await measure(round % 2 === 0 ? theirs : ours, pace.roundMs)
    const second = await measure(round % 2 === 0 ? ours : theirs, pace.roundMs)
    clientBusy = Math.max(clientBusy, performance.eventLoopUtilization(before).utilization)
    const [their, our] = round % 2 === 0 ? [first, second] : [second, first]
    ratios.push(our.perSecond / their.perSecond)
    cpuRatios.push(their.cpuMs / our.cpuMs)
  }
  return {
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    cpuRatio: median(cpuRatios),
    clientBusy: ours.load.isAwake ? null : clientBusy,
  }
}

async function measure({ load, process }: Side, ms: number): Promise<Measured> {
  const before = await process.usage()
  const run = await drive(load, ms)
  const after = await process.usage()
  return { ...run, cpuMs: (after.cpuMs - before.cpuMs) / run.answers }
}
