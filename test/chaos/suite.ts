import type { FleetOptions } from './fleet.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

/** How much of it: `npm test` takes little, `npm run chaos` as much as it is told. */
export type Pace = Readonly<{
  stormMs: number
  /** Every named point by every worker, not by one of them. */
  isThorough: boolean
  random: Random
  say(line: string): void
  /** A row of the report. */
  note(what: string, figure: string): void
}>

/** One thing that goes wrong in the scenario. It throws where something is wrong that no judgement of the app sees. */
export type DrillCase = Readonly<{
  name: string
  work(run: Run, pace: Pace): Promise<void>
}>

/** Drills that one app goes through, one after the other. */
export type Suite = Readonly<{
  /** Chains that it needs. */
  networks: readonly string[]
  /** Chains that it takes in where their nodes are installed. */
  optional?: readonly string[]
  /** The same, with customers who take minutes more: in `npm run chaos` alone. */
  patient?: readonly string[]
  options: FleetOptions
  cases: readonly DrillCase[]
}>
