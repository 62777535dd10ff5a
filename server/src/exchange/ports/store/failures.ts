import type { Job } from '../../../core/ports/jobs.ts'
import type { Deadlines } from '../../domain/deadlines.ts'

/** Steps that fail again and again, and what is open and does not move. */
export interface FailureStore {
  /** One more failure of this job; how many it has had in a row, in all processes. */
  failed(job: Job, error: string): Promise<number>
  forget(jobs: readonly Job[]): Promise<void>
  /** Every job that has failed and not succeeded since; `quiet`: it has not failed for so long that it must have. */
  failing(quietMs: number, limit: number): Promise<readonly (Job & Readonly<{ quiet: boolean }>)[]>
  /** Raises one alarm for each row that is over its deadline, and clears those of rows that have moved. */
  tellUnmoved(deadlines: Deadlines, limit: number): Promise<void>
}
