import type { Job } from '../../../core/ports/jobs.ts'
import type { Deadlines } from '../../domain/deadlines.ts'

/** Rows that are due, jobs that keep failing, and rows past their deadline. */
export interface JobStore {
  /** Rows whose check time has passed, each leased for 15 s. */
  leaseDue(limit: number): Promise<readonly Job[]>
  /** Deletes what is kept for one day only: idempotency keys, stored responses, built approvals; outflows after two. */
  deleteExpired(): Promise<void>
  /** One more failure of this job; how many it has had in a row, in all processes. */
  recordFailure(job: Job, error: string): Promise<number>
  clearFailures(jobs: readonly Job[]): Promise<void>
  /** Every job that has failed and not succeeded since; `quiet`: it has not failed for so long that it must have. */
  listFailing(quietMs: number, limit: number): Promise<readonly (Job & Readonly<{ quiet: boolean }>)[]>
  /** Raises one alarm for each row that is over its deadline, and clears those of rows that have moved. */
  raiseOverdue(deadlines: Deadlines, limit: number): Promise<void>
}
