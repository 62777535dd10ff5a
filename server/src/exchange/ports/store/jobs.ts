import type { Job } from '../../../core/ports/jobs.ts'
import type { Deadlines } from '../../domain/deadlines.ts'

/** Rows that are due, jobs that fail repeatedly, and rows past their deadline (I-16). */
export interface JobStore {
  /** Rows whose check time has passed, each leased for 15 s. */
  leaseDue(limit: number): Promise<readonly Job[]>
  /** Deletes idempotency keys, stored responses and built approvals after one day, outflows after two, and ended sightings after 30. */
  deleteExpired(): Promise<void>
  /** True for one process of all, once in this time: it does the work that need not be repeated by each. */
  claimTurn(name: string, everyMs: number): Promise<boolean>
  /** Counts a failure of this job. Returns the number of failures in a row, over all processes. */
  recordFailure(job: Job, error: string): Promise<number>
  clearFailures(jobs: readonly Job[]): Promise<void>
  /** Jobs that failed and have not succeeded since. `quiet`: the last failure is longer ago than `quietMs`. */
  listFailing(quietMs: number, limit: number): Promise<readonly (Job & Readonly<{ quiet: boolean }>)[]>
  /** Raises an alarm for each row past its deadline, and clears the alarms of rows that moved on. */
  raiseOverdue(deadlines: Deadlines, limit: number): Promise<void>
}
