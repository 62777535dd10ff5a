import { Logger, type Runner, run, runMigrations } from 'graphile-worker'
import type { Job } from '../../../core/ports/jobs.ts'
import type { Database } from '../core/database.ts'
import { createRetryingPool } from './retrying-pool.ts'

export type JobRunner = Readonly<{ stop(): Promise<void> }>

export type JobRunnerOptions = Readonly<{
  database: Database
  /** Jobs at once in this process. */
  concurrency: number
  /** Runs one job; an error is retried with growing pauses. */
  perform(job: Job): Promise<void>
  onError(job: Job, error: unknown): void
}>

const kinds = ['exchange', 'transaction', 'dispatch', 'swap'] as const satisfies readonly Job['kind'][]
/** LISTEN wakes a worker within milliseconds; the poll finds jobs whose notification was lost. */
const POLL_MS = 2_000

/** Creates the tables of the queue. Every role needs them, because every role adds jobs. */
export function prepareJobs(database: Database): Promise<void> {
  return runMigrations({ pgPool: database.pool, logger: silent })
}

/** Runs jobs until `stop`, which waits for the jobs in progress. */
export async function startJobs({ database, concurrency, perform, onError }: JobRunnerOptions): Promise<JobRunner> {
  const runner: Runner = await run({
    pgPool: createRetryingPool(database.pool),
    concurrency,
    noHandleSignals: true,
    noPreparedStatements: false,
    pollInterval: POLL_MS,
    logger: silent,
    taskList: Object.fromEntries(
      kinds.map((kind) => [kind, (payload: unknown) => runJob(toJob(kind, payload), perform, onError)]),
    ),
  })
  return { stop: () => runner.stop() }
}

async function runJob(
  job: Job,
  perform: JobRunnerOptions['perform'],
  onError: JobRunnerOptions['onError'],
): Promise<void> {
  try {
    await perform(job)
  } catch (error) {
    onError(job, error)
    throw error
  }
}

function toJob(kind: Job['kind'], payload: unknown): Job {
  const id = typeof payload === 'object' && payload !== null && 'id' in payload ? payload.id : null
  if (typeof id !== 'string') throw new Error(`a ${kind} job without an id`)
  return { kind, id }
}

/** `onError` and the metrics report failures; the queue's own log would repeat them. */
const silent = new Logger(() => () => undefined)
