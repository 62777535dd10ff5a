import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { until } from '../lib/src/until.ts'
import type { BareServerSettings } from './bare-server.ts'
import type { App, Infrastructure } from './infrastructure.ts'
import { type Load, type Request, runLoad } from './load.ts'
import type { Process } from './processes.ts'
import {
  bareCreateRequests,
  createRequests,
  cycle,
  feedRequests,
  fetchFrom,
  once,
  pollRequests,
  STATUS_PATH,
} from './requests.ts'
import type { Goal, Result } from './results.ts'
import { type Comparison, compare, describeSpread, type Pace, type Side } from './rounds.ts'
import { exchangeId } from './seed-database.ts'
import type { WholeExchangesSettings } from './whole-exchanges.ts'

/** Connections of all loads except creates. */
const CONNECTIONS = 32
/** Concurrent creates, more than the database pool has connections. */
const CREATE_CONNECTIONS = 64
const CREATES_PER_ROUND = 800
const POLLS_PER_ROUND = 1_000
/** Rounds of first polls, which take less than half a second each. */
const FIRST_POLL_ROUNDS = 25
/** Hundreds of directions. Right after the start the feed has none. */
const FEED_BYTES_MIN = 50_000
const FEED_COMPLETE_MS = 60_000
const RSS_GOAL_MB = 300
const EXCHANGE_COUNT = 200
/** Several statuses and transactions of one exchange; they do not depend on the machine. */
const COMMITS_GOAL = 40
const WAL_GOAL_KB = 80

const portOf = ({ process }: App): number => process.report('port')
const barePortOf = ({ bareRoutes }: App): number => bareRoutes.report('port')

const loadOf = (port: number, next: Load['next'], connections = CONNECTIONS): Load => ({
  ports: [port],
  connections,
  next,
})

const ratioOf = (name: string, goal: Goal, { throughput, cpu, ...rest }: Comparison, note = ''): Result => ({
  name,
  figures: [{ value: throughput.median, goal }],
  note: `rounds ${describeSpread(throughput)}; by CPU time ${describeSpread(cpu)}; ${rest.ourPerSecond.toFixed(0)} and ${rest.theirPerSecond.toFixed(0)} a second; client ${(rest.clientUtilization * 100).toFixed(0)} % busy${note === '' ? '' : `; ${note}`}`,
})

/** The rates feed against the same bytes sent from memory by a bare route. Judged by CPU time, as quotes. */
export async function benchFeed(infrastructure: Infrastructure, app: App, pace: Pace): Promise<Result[]> {
  const feedFile = join(infrastructure.folder, 'feed.xml')
  let feed = ''
  const isComplete = async () => {
    feed = await (await fetchFrom(portOf(app), '/v1/rates')).text()
    return feed.length >= FEED_BYTES_MIN
  }
  await until('the feed lists every direction', isComplete, {
    timeoutMs: FEED_COMPLETE_MS,
    explain: () => `${feed.length} bytes`,
  })
  writeFileSync(feedFile, feed)
  const settings: BareServerSettings = { routes: [], feedFile }
  const bareServer = await infrastructure.startProcess('bare-server.ts', settings)
  const sideOf = (process: App['process']): Side => ({
    processes: [process],
    run: (ms) => runLoad(loadOf(process.report('port'), cycle(feedRequests)), ms),
  })
  const { cpu, throughput } = await compare(sideOf(bareServer), sideOf(app.process), pace)
  return [
    {
      name: 'feed ÷ the same bytes by a bare route',
      figures: [{ value: cpu.median, goal: { atLeast: 0.9 } }],
      note: `by CPU time, rounds ${describeSpread(cpu)}; throughput ${describeSpread(throughput)}; ${(feed.length / 1024).toFixed(0)} KB, both from memory`,
    },
  ]
}

/** Polls of exchanges that the process has not cached. Each round polls other exchanges of the table. */
function firstPolls(app: App): Side {
  let requests: readonly Request[] = []
  let part = 0
  return {
    processes: [app.process],
    prepare: async () => {
      await emptyPollCache(app)
      requests = pollRequests(STATUS_PATH, app.rows, POLLS_PER_ROUND, part++)
    },
    run: () => runLoad(loadOf(portOf(app), once(requests))),
  }
}

/**
 * A rewritten table makes the processes empty their caches of polls (docs/poll-cache.md). The table has no rows. For a login that does not
 * own the table, Postgres skips the statement with a mere warning.
 */
async function emptyPollCache({ urls }: App): Promise<void> {
  const client = new pg.Client({ connectionString: urls.owner })
  await client.connect()
  try {
    const readFile = async () => (await client.query("select pg_relation_filenode('payouts') as file")).rows[0]?.file
    const before = await readFile()
    await client.query('vacuum full payouts')
    if ((await readFile()) === before)
      throw new Error('the table was not rewritten, so the cache of polls is not empty')
  } finally {
    await client.end()
  }
}

/** A polled exchange must have its execution: without the seeded deposits, answers would be shorter than in production. */
async function requireWholeAnswer(app: App): Promise<void> {
  const response = await fetchFrom(portOf(app), `${STATUS_PATH}?id=${exchangeId(1)}`)
  const { exchanges } = (await response.json()) as { exchanges?: readonly unknown[] }
  if (exchanges?.length !== 1) throw new Error('a seeded exchange has no execution in its answer')
}

function repeatedPolls(app: App): Side {
  const requests = pollRequests(STATUS_PATH, app.rows, POLLS_PER_ROUND)
  return { processes: [app.process], run: (ms) => runLoad(loadOf(portOf(app), cycle(requests)), ms) }
}

function bareSelects(app: App): Side {
  let part = 0
  return {
    processes: [app.bareRoutes],
    run: () => {
      const requests = pollRequests('/exchange', app.rows, POLLS_PER_ROUND, part++)
      return runLoad(loadOf(barePortOf(app), once(requests)))
    },
  }
}

export async function benchPolls(small: App, large: App, pace: Pace): Promise<Result[]> {
  await requireWholeAnswer(large)
  const rows = `${large.rows} ÷ ${small.rows} exchanges`
  const firsts = { ...pace, rounds: Math.max(pace.rounds, FIRST_POLL_ROUNDS) }
  const first = await compare(firstPolls(small), firstPolls(large), firsts)
  // Both sides run the same program, so the machine causes most of the variation. Short rounds distribute it evenly.
  const repeats = { ...pace, rounds: 4 * pace.rounds, roundMs: pace.roundMs / 3 }
  const repeated = await compare(repeatedPolls(small), repeatedPolls(large), repeats)
  const selects = await compare(bareSelects(large), firstPolls(large), firsts)
  return [
    ratioOf(`first polls, ${rows}`, { atLeast: 0.8 }, first, `${POLLS_PER_ROUND} uncached exchanges a round`),
    ratioOf(`repeated polls, ${rows}`, { atLeast: 0.9 }, repeated),
    ratioOf('first polls ÷ bare select', { atLeast: 0.7 }, selects, `beside ${large.rows} exchanges`),
  ]
}

/** Creates with Idempotency-Key, rateId and refund address against one insert with one commit each through an equal pool. */
export async function benchCreates(app: App, pace: Pace): Promise<Result[]> {
  let creates: readonly Request[] = []
  const ours: Side = {
    processes: [app.process],
    prepare: async () => {
      creates = await createRequests(portOf(app), CREATES_PER_ROUND)
    },
    run: () => runLoad(loadOf(portOf(app), once(creates), CREATE_CONNECTIONS)),
  }
  const reference: Side = {
    processes: [app.bareRoutes],
    run: () => {
      const inserts = bareCreateRequests('/exchange', CREATES_PER_ROUND)
      return runLoad(loadOf(barePortOf(app), once(inserts), CREATE_CONNECTIONS))
    },
  }
  const comparison = await compare(reference, ours, { ...pace, rounds: 2 * pace.rounds })
  const note = `fixed-rate creates with Idempotency-Key, rateId and refund address, beside ${app.rows} exchanges`
  return [ratioOf('create ÷ bare insert', { atLeast: 0.7 }, comparison, note)]
}

export async function benchMemory(apps: readonly App[]): Promise<Result[]> {
  const measure = async (processes: readonly (Process | null)[]) => {
    const usages = await Promise.all(processes.map((process) => process?.usage() ?? { rssBytes: 0 }))
    return Math.max(...usages.map(({ rssBytes }) => rssBytes)) / 1024 / 1024
  }
  return [
    {
      name: 'memory of the API after the loads',
      figures: [{ value: await measure(apps.map((app) => app.process)), unit: 'MB', goal: { below: RSS_GOAL_MB } }],
      note: `resident; the larger one of ${apps.length}`,
    },
    {
      name: 'memory of the worker beside it',
      figures: [{ value: await measure(apps.map((app) => app.worker)), unit: 'MB' }],
      note: 'resident',
    },
  ]
}

export async function benchWholeExchanges(infrastructure: Infrastructure): Promise<Result[]> {
  const { worker } = await infrastructure.createDatabase('whole')
  const process = await infrastructure.startProcess('whole-exchanges.ts', {
    databaseUrl: worker,
    count: EXCHANGE_COUNT,
    dataDir: infrastructure.folder,
  } satisfies WholeExchangesSettings)
  const { rssBytes } = await process.usage()
  // Its worker and chains would run beside the other benchmarks.
  await process.stop()
  return [
    {
      name: 'commits and WAL of a whole exchange',
      figures: [
        { value: process.report('commits'), goal: { below: COMMITS_GOAL } },
        { value: process.report('walBytes') / 1024, unit: 'KB', goal: { below: WAL_GOAL_KB } },
      ],
      note: `${EXCHANGE_COUNT} exchanges from creation to payment by one worker on two in-memory chains, ${process.report('perSecond').toFixed(1)} a second; only transactions that write`,
    },
    {
      name: 'memory of API and worker',
      figures: [{ value: rssBytes / 1024 / 1024, unit: 'MB', goal: { below: RSS_GOAL_MB } }],
      note: 'resident, including both chains',
    },
  ]
}
