import { AppError } from '../../core/domain/errors.ts'
import type { Job } from '../../core/ports/jobs.ts'
import type { Log } from '../../lib/log.ts'
import type { Deadlines } from '../domain/deadlines.ts'
import type { Store } from '../ports/store/store.ts'

type Dependencies = Readonly<{
  store: Pick<Store, 'jobs' | 'alarms'>
  deadlines: Deadlines
  log: Log
}>

/** A step that has failed this often in a row does so for ever: nobody but a person can help it. */
const FAILURES_MAX = 5
/** What is open is stepped four times a minute: what has not failed for so long has succeeded, wherever it ran. */
const QUIET_MS = 120_000
const LISTED_MAX = 1_000
const ALARMS_MAX = 100

/**
 * Tells a person of steps that fail again and again (I-16), and of what is open and does not move. Only failures that
 * waiting does not heal are counted: a node or a database that is away has alarms of its own.
 */
export function createWatchJobs({ store, deadlines, log }: Dependencies) {
  /** Jobs that have failed, here or elsewhere: their success is worth a statement. */
  let failing = new Set<string>()
  const subjectOf = ({ kind, id }: Job) => `failing:${kind}:${id}`
  const over = async (jobs: readonly Job[]) => {
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
      if (failures === FAILURES_MAX) log.error({ ...job, failures }, 'a step fails again and again')
      await store.alarms.raise(subjectOf(job), 'a step fails again and again', { ...job, failures, error: text })
    },
    async succeeded(job: Job): Promise<void> {
      if (failing.delete(subjectOf(job))) await over([job])
    },
    /** Hears of the failures of other processes, forgets what is healed, and looks for what does not move. */
    async turn(): Promise<void> {
      const known = await store.jobs.listFailing(QUIET_MS, LISTED_MAX)
      await over(known.filter(({ quiet }) => quiet))
      failing = new Set(known.filter(({ quiet }) => !quiet).map(subjectOf))
      await store.jobs.raiseOverdue(deadlines, ALARMS_MAX)
    },
  }
}
