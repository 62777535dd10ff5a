import type { Random } from '../support/random.ts'
import type { FleetOptions } from './fleet.ts'
import type { Run } from './run.ts'

/** Length and output of a run: short for `npm test`, set by arguments for `npm run chaos`. */
export type SuiteContext = Readonly<{
  /** Duration of the random faults. */
  randomMs: number
  /** Kill every worker at every checkpoint, not only one of them. */
  isThorough: boolean
  random: Random
  log(line: string): void
  /** Adds a row to the report. */
  note(label: string, value: string): void
}>

/** Injects a fault. `work` throws for errors that the checks after the case do not detect. */
export type SuiteCase = Readonly<{
  name: string
  work(run: Run, context: SuiteContext): Promise<void>
}>

/** Cases that run in order on one app. */
export type Suite = Readonly<{
  /** Required chains. */
  networks: readonly string[]
  /** Chains that are used if their nodes are installed. */
  optional?: readonly string[]
  /** The same, in `npm run chaos` only, because their exchanges take minutes longer. */
  optionalSlow?: readonly string[]
  options: FleetOptions
  cases: readonly SuiteCase[]
}>
