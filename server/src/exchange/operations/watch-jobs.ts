import { AppError } from '../../core/domain/errors.ts'
import type { Job } from '../../core/ports/jobs.ts'
import { jobFields } from '../../core/services/job-fields.ts'
import type { Log } from '../../lib/log.ts'
import type { Deadlines } from '../domain/deadlines.ts'
import type { Store } from '../ports/store/store.ts'

type Dependencies = Readonly<{
  store: Pick<Store, 'jobs' | 'alarms'>
  deadlines: Deadlines
  log: Log
}>

/** After this many failures in a row, the operator must look. */
const FAILURES_MAX = 5
/** Open rows are stepped four times a minute, so a job without a failure for this long has succeeded in some process. */
const QUIET_MS = 120_000
const LISTED_MAX = 1_000
const ALARMS_MAX = 100

/**
 * Raises alarms for jobs that fail repeatedly (I-16) and for rows past their deadline. Retryable failures do not count: an
 * unreachable node or database has its own alarm.
 */
export function createWatchJobs({ store, deadlines, log }: Dependencies) {
  /** Jobs with recorded failures, from all processes. Only their success needs a database statement. */
  let failing = new Set<string>()
  const subjectOf = ({ kind, id }: Job) => `failing:${kind}:${id}`
  const clearFailures = async (jobs: readonly Job[]) => {
    if (jobs.length === 0) return
    await store.jobs.clearFailures(jobs)
    await store.alarms.clear(...jobs.map(subjectOf))
  }
  return {
    async failed(job: Job, error: unknown): Promise<void> {
      if (error instanceof AppError && error.retryable) return
      failing.add(subjectOf(job))
      const text = error instanceof Error ? error.message : String(error)
      const failures = await store.jobs.recordFailure(job, text)
      if (failures < FAILURES_MAX) return
      const detail = { ...jobFields(job), failures, error: text }
      if (failures === FAILURES_MAX) log.error(detail, 'job fails repeatedly')
      await store.alarms.raise(subjectOf(job), 'job fails repeatedly', detail)
    },
    async succeeded(job: Job): Promise<void> {
      if (failing.delete(subjectOf(job))) await clearFailures([job])
    },
    /** Reads the failures of all processes, clears those that are over, and raises alarms for overdue rows. */
    async turn(): Promise<void> {
      const recorded = await store.jobs.listFailing(QUIET_MS, LISTED_MAX)
      await clearFailures(recorded.filter(({ quiet }) => quiet))
      failing = new Set(recorded.filter(({ quiet }) => !quiet).map(subjectOf))
      await store.jobs.raiseOverdue(deadlines, ALARMS_MAX)
    },
  }
}
