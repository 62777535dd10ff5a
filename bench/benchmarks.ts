import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BareServerSettings } from './bare-server.ts'
import { compareBlockScans } from './block-scan.ts'
import type { App, Infrastructure } from './infrastructure.ts'
import { get, median, sendOnce } from './load.ts'
import type { Process } from './processes.ts'
import { createRequests, listAllPairs, onePair, pollRequests, quotePath, quoteRequests } from './requests.ts'
import { type Comparison, compare, type Pace } from './rounds.ts'
import type { WholeExchangesSettings } from './whole-exchanges.ts'

/** One line of the table. `figure` is a ratio if `unit` is empty. A benchmark without a goal has `goal: null`. */
export type Result = Readonly<{
  name: string
  goal: Readonly<{ atLeast: number } | { below: number }> | null
  figure: number
  unit: string
  note: string
}>

/** Connections of all loads except creates. */
const CONNECTIONS = 32
/** Concurrent creates, more than the database pool has connections. */
const CREATE_CONNECTIONS = 64
const RSS_GOAL_MB = 300
/** More exchanges than a process caches for status polls. */
const UNCACHED_IDS = 50_000
const EXCHANGE_COUNT = 200

const STATUS_PATH = '/v1/cross-chain/exchange/status/standard'

const ratioOf = (
  name: string,
  goal: number | null,
  { ratio, lowest, highest, cpuRatio, clientUtilization }: Comparison,
): Result => ({
  name,
  goal: goal === null ? null : { atLeast: goal },
  figure: ratio,
  unit: '',
  note: `rounds ${lowest.toFixed(2)} to ${highest.toFixed(2)}; by CPU time ${cpuRatio.toFixed(2)}; client ${clientUtilization === null ? 'busy-waits' : `${(clientUtilization * 100).toFixed(0)} % busy`}`,
})

const fetchPath = (port: number, path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': 'sandbox' } })

/** Starts the bare server with a quote and a feed of this app. */
export async function startBareServer(infrastructure: Infrastructure, app: App): Promise<Process> {
  const port = app.process.report('appPort')
  const quote = (await (await fetchPath(port, quotePath(onePair, '1.234567'))).json()) as object
  writeFileSync(join(infrastructure.folder, 'feed.xml'), await (await fetchPath(port, '/v1/rates')).text())
  const settings: BareServerSettings = { quote, folder: infrastructure.folder }
  return infrastructure.startProcess('bare-server.ts', settings)
}

export async function benchQuotes(bareServer: Process, { process }: App, pace: Pace): Promise<Result[]> {
  const load = { connections: CONNECTIONS, requests: quoteRequests, status: 200, busyWaits: true }
  const comparison = await compare(
    { process: bareServer, load: { ...load, port: bareServer.report('barePort') } },
    { process, load: { ...load, port: process.report('appPort') } },
    pace,
  )
  // Both sides by Fastify over keep-alive connections. Mixed requests are not measured yet.
  return [ratioOf('quote ÷ bare route', 0.45, comparison)]
}

export async function benchFeed(bareServer: Process, { process }: App, pace: Pace): Promise<Result[]> {
  const load = { connections: CONNECTIONS, status: 200, busyWaits: true }
  const reference = {
    process: bareServer,
    load: { ...load, port: bareServer.report('barePort'), requests: [get('/feed.xml')] },
  }
  const ours = { process, load: { ...load, port: process.report('appPort'), requests: [get('/v1/rates')] } }
  return [ratioOf('feed ÷ static file', 0.9, await compare(reference, ours, pace))]
}

/** Compares polls of `ids` exchanges with selects of the same exchanges. */
function compareWithSelects({ process, rows }: App, ids: number | undefined, pace: Pace): Promise<Comparison> {
  const load = { connections: CONNECTIONS, status: 200, busyWaits: false }
  const reference = {
    process,
    load: { ...load, port: process.report('barePort'), requests: pollRequests('/exchange', rows, ids) },
  }
  const ours = {
    process,
    load: { ...load, port: process.report('appPort'), requests: pollRequests(STATUS_PATH, rows, ids) },
  }
  return compare(reference, ours, pace)
}

export async function benchStatus(app: App, pace: Pace): Promise<Result[]> {
  return [ratioOf('status ÷ bare select', 0.7, await compareWithSelects(app, undefined, pace))]
}

/** Polls more exchanges in turn than a process caches, so that each poll reads the database. */
export async function benchFirstPolls(app: App, pace: Pace): Promise<Result[]> {
  const comparison = await compareWithSelects(app, Math.min(app.rows, UNCACHED_IDS), pace)
  return [ratioOf('status, not cached ÷ bare select', null, comparison)]
}

export async function benchTableSize(small: App, large: App, pace: Pace): Promise<Result[]> {
  const [reference, ours] = [small, large].map(({ process, rows }) => ({
    process,
    load: {
      connections: CONNECTIONS,
      status: 200,
      busyWaits: false,
      port: process.report('appPort'),
      requests: pollRequests(STATUS_PATH, rows),
    },
  }))
  if (!reference || !ours) throw new Error('two apps are needed')
  // Both sides run the same program, so the machine causes most of the variation. Short rounds distribute it evenly.
  const shortRounds = { ...pace, rounds: 4 * pace.rounds, roundMs: pace.roundMs / 3 }
  return [ratioOf(`status, ${large.rows} ÷ ${small.rows} rows`, 0.9, await compare(reference, ours, shortRounds))]
}

export async function benchCreates({ process }: App, pace: Pace, name = 'create ÷ bare insert'): Promise<Result[]> {
  const load = { connections: CREATE_CONNECTIONS, status: 201, busyWaits: false }
  const reference = {
    process,
    load: { ...load, port: process.report('barePort'), requests: createRequests('/exchange') },
  }
  const ours = {
    process,
    load: { ...load, port: process.report('appPort'), requests: createRequests('/v1/cross-chain/exchange') },
  }
  return [ratioOf(name, 1, await compare(reference, ours, pace))]
}

export async function benchBlockScan(small: App, large: App): Promise<Result[]> {
  const { ratio, smallMs, largeMs } = await compareBlockScans(
    { url: small.databaseUrl, rows: small.rows },
    { url: large.databaseUrl, rows: large.rows },
  )
  const note = `${smallMs.toFixed(1)} ms and ${largeMs.toFixed(1)} ms per block of 1000 transactions and 2500 transfers`
  return [
    {
      name: `block scan, ${large.rows} ÷ ${small.rows} addresses`,
      goal: { atLeast: 0.6 },
      figure: ratio,
      unit: '',
      note,
    },
  ]
}

/**
 * Compares a quote of every direction after the price book has changed, which computes the direction's price, with as many quotes of
 * one direction.
 */
export async function benchColdQuotes({ process }: App): Promise<Result[]> {
  const port = process.report('appPort')
  const pairs = await listAllPairs(async (path) => (await fetchPath(port, path)).json())
  const load = { port, connections: 1, status: 200, busyWaits: false }
  const times: { cold: number[]; warm: number[] } = { cold: [], warm: [] }
  for (let round = 0; round < 4; round++) {
    // Longer than the refresh interval of the price book, so that every direction is cold again.
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    times.cold.push((await sendOnce({ ...load, requests: pairs })).medianMs)
    times.warm.push((await sendOnce({ ...load, requests: pairs.map(() => get(quotePath(onePair, '1.5'))) })).medianMs)
  }
  const [cold, warm] = [median(times.cold), median(times.warm)]
  return [
    {
      name: 'latency, cold ÷ warm direction',
      goal: null,
      figure: cold / warm,
      unit: '',
      note: `median of ${pairs.length} directions, one request at a time`,
    },
  ]
}

export async function benchMemory(apps: readonly App[]): Promise<Result[]> {
  const usages = await Promise.all(apps.map(({ process }) => process.usage()))
  const megabytes = Math.max(...usages.map(({ rssBytes }) => rssBytes)) / 1024 / 1024
  return [
    {
      name: 'memory of the API after the loads',
      goal: { below: RSS_GOAL_MB },
      figure: megabytes,
      unit: 'MB',
      note: 'resident, without chains and database',
    },
  ]
}

export async function benchWholeExchanges(infrastructure: Infrastructure): Promise<Result[]> {
  const databaseUrl = await infrastructure.createDatabase('whole')
  const process = await infrastructure.startProcess('whole-exchanges.ts', {
    databaseUrl,
    count: EXCHANGE_COUNT,
  } satisfies WholeExchangesSettings)
  const record = (name: string, figure: number, unit: string, note: string): Result => ({
    name,
    goal: null,
    figure,
    unit,
    note,
  })
  const { rssBytes } = await process.usage()
  return [
    record(
      'whole exchanges by one worker',
      process.report('perSecond'),
      '/s',
      `${EXCHANGE_COUNT} from creation to payment, two in-memory chains`,
    ),
    record(
      'commits of a whole exchange',
      process.report('commits'),
      '',
      'only transactions that write: steps, jobs, blocks',
    ),
    record(
      'WAL of a whole exchange',
      process.report('walBytes') / 1024,
      'KB',
      'including full-page images after checkpoints',
    ),
    {
      ...record('memory of API and worker', rssBytes / 1024 / 1024, 'MB', 'resident, including both chains'),
      goal: { below: RSS_GOAL_MB },
    },
  ]
}
