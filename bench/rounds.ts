import { performance } from 'node:perf_hooks'
import { drive, type Load, median, type Run } from './load.ts'
import type { Process } from './processes.ts'

/** What the two sides of a comparison did. `ratio` is ours ÷ theirs: above 1, we are faster. */
export type Comparison = Readonly<{
  ratio: number
  lowest: number
  highest: number
  ours: number
  theirs: number
  oursMs: number
  theirsMs: number
  /** Share of its core that the client used at most: near 1 it would be what is measured. */
  clientBusy: number
  /** Microseconds of the server's CPU time per answer: what noise of other programs moves least. */
  oursCpu: number
  theirsCpu: number
}>

/** One side: what is sent, and the process that answers it. */
export type Side = Readonly<{ load: Load; process: Pick<Process, 'usage'> }>

export type Pace = Readonly<{ rounds: number; roundMs: number; warmUpMs: number }>

/** Rounds in turn, theirs first in every other one, so that what else the machine does meets both sides alike. */
export async function compare(theirs: Side, ours: Side, pace: Pace): Promise<Comparison> {
  await drive(theirs.load, pace.warmUpMs)
  await drive(ours.load, pace.warmUpMs)
  const runs: { theirs: Measured; ours: Measured }[] = []
  let clientBusy = 0
  for (let round = 0; round < pace.rounds; round++) {
    const before = performance.eventLoopUtilization()
    const [first, second] = round % 2 === 0 ? [theirs, ours] : [ours, theirs]
    const one = await measure(first, pace.roundMs)
    const two = await measure(second, pace.roundMs)
    clientBusy = Math.max(clientBusy, performance.eventLoopUtilization(before).utilization)
    runs.push(round % 2 === 0 ? { theirs: one, ours: two } : { theirs: two, ours: one })
  }
  const ratios = runs.map((run) => run.ours.perSecond / run.theirs.perSecond)
  return {
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    ours: median(runs.map((run) => run.ours.perSecond)),
    theirs: median(runs.map((run) => run.theirs.perSecond)),
    oursMs: median(runs.map((run) => run.ours.medianMs)),
    theirsMs: median(runs.map((run) => run.theirs.medianMs)),
    clientBusy,
    oursCpu: median(runs.map((run) => run.ours.cpu)),
    theirsCpu: median(runs.map((run) => run.theirs.cpu)),
  }
}

type Measured = Run & Readonly<{ cpu: number }>

async function measure({ load, process }: Side, ms: number): Promise<Measured> {
  const before = await process.usage()
  const run = await drive(load, ms)
  const after = await process.usage()
  return { ...run, cpu: ((after.cpuMs - before.cpuMs) * 1000) / run.answers }
}
