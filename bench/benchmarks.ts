import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BareSettings } from './bare.ts'
import { compareBlockScans } from './block-scan.ts'
import type { Ground, House } from './ground.ts'
import { get, median, sendOnce } from './load.ts'
import type { Process } from './processes.ts'
import { allPairs, creates, onePair, polls, quotePath, quotes } from './requests.ts'
import { type Comparison, compare, type Pace } from './rounds.ts'
import type { WholeExchangesSettings } from './whole-exchanges.ts'

/** One line of the table. `figure` is a ratio, or what its unit says; a null goal is for the record. */
export type Result = Readonly<{
  name: string
  goal: Readonly<{ atLeast: number } | { below: number }> | null
  figure: number
  unit: string
  note: string
}>

/** Connections of every load but that of creates. */
const CONNECTIONS = 32
/** Creates arrive together: more at once than the pool has connections. */
const CREATES = 64
const RSS_GOAL_MB = 300
const UNKEPT = 50_000
const WHOLE_EXCHANGES = 200

const STATUS = '/v1/cross-chain/exchange/status/standard'

const ratioOf = (
  name: string,
  goal: number | null,
  { ratio, lowest, highest, cpuRatio, clientBusy }: Comparison,
): Result => ({
  name,
  goal: goal === null ? null : { atLeast: goal },
  figure: ratio,
  unit: '',
  note: `rounds ${lowest.toFixed(2)} to ${highest.toFixed(2)}; by CPU time ${cpuRatio.toFixed(2)}; client ${clientBusy === null ? 'awake' : `${(clientBusy * 100).toFixed(0)} % busy`}`,
})

const read = (port: number, path: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': 'sandbox' } })

/** A bare server with the answers of this house. */
export async function openBare(ground: Ground, house: House): Promise<Process> {
  const port = house.process.report('house')
  const quote = (await (await read(port, quotePath(onePair, '1.234567'))).json()) as object
  writeFileSync(join(ground.folder, 'feed.xml'), await (await read(port, '/v1/rates')).text())
  return ground.open('bare.ts', { quote, folder: ground.folder } satisfies BareSettings)
}

export async function benchQuotes(bare: Process, { process }: House, pace: Pace): Promise<Result[]> {
  const load = { connections: CONNECTIONS, requests: quotes, status: 200, isAwake: true }
  const compared = await compare(
    { process: bare, load: { ...load, port: bare.report('bare') } },
    { process, load: { ...load, port: process.report('house') } },
    pace,
  )
  // Both sides by Fastify over keep-alive connections. Mixed requests are not measured yet.
  return [ratioOf('quote ÷ bare route', 0.45, compared)]
}

export async function benchFeed(bare: Process, { process }: House, pace: Pace): Promise<Result[]> {
  const load = { connections: CONNECTIONS, status: 200, isAwake: true }
  const theirs = { process: bare, load: { ...load, port: bare.report('bare'), requests: [get('/feed.xml')] } }
  const ours = { process, load: { ...load, port: process.report('house'), requests: [get('/v1/rates')] } }
  return [ratioOf('feed ÷ static file', 0.9, await compare(theirs, ours, pace))]
}

/** Polls of so many ids against selects of the same ones. */
function againstSelects({ process, rows }: House, ids: number | undefined, pace: Pace): Promise<Comparison> {
  const load = { connections: CONNECTIONS, status: 200, isAwake: false }
  const theirs = { process, load: { ...load, port: process.report('bare'), requests: polls('/exchange', rows, ids) } }
  const ours = { process, load: { ...load, port: process.report('house'), requests: polls(STATUS, rows, ids) } }
  return compare(theirs, ours, pace)
}

export async function benchStatus(house: House, pace: Pace): Promise<Result[]> {
  return [ratioOf('status ÷ bare select', 0.7, await againstSelects(house, undefined, pace))]
}

/** More exchanges in turn than a process keeps: every one is read. */
export async function benchFirstPolls(house: House, pace: Pace): Promise<Result[]> {
  const compared = await againstSelects(house, Math.min(house.rows, UNKEPT), pace)
  return [ratioOf('status, none kept ÷ bare select', null, compared)]
}

export async function benchTableSize(few: House, many: House, pace: Pace): Promise<Result[]> {
  const [theirs, ours] = [few, many].map(({ process, rows }) => ({
    process,
    load: {
      connections: CONNECTIONS,
      status: 200,
      isAwake: false,
      port: process.report('house'),
      requests: polls(STATUS, rows),
    },
  }))
  if (!theirs || !ours) throw new Error('two houses are compared')
  // The same server twice: what differs from second to second is the machine, which short rounds in turn meet alike.
  const fine = { ...pace, rounds: 4 * pace.rounds, roundMs: pace.roundMs / 3 }
  return [ratioOf(`status, ${many.rows} ÷ ${few.rows} rows`, 0.9, await compare(theirs, ours, fine))]
}

export async function benchCreates({ process }: House, pace: Pace, name = 'create ÷ bare insert'): Promise<Result[]> {
  const load = { connections: CREATES, status: 201, isAwake: false }
  const theirs = { process, load: { ...load, port: process.report('bare'), requests: creates('/exchange') } }
  const ours = {
    process,
    load: { ...load, port: process.report('house'), requests: creates('/v1/cross-chain/exchange') },
  }
  return [ratioOf(name, 1, await compare(theirs, ours, pace))]
}

export async function benchBlockScan(few: House, many: House): Promise<Result[]> {
  const { ratio, fewMs, manyMs } = await compareBlockScans(
    { url: few.databaseUrl, rows: few.rows },
    { url: many.databaseUrl, rows: many.rows },
  )
  const note = `${fewMs.toFixed(1)} ms and ${manyMs.toFixed(1)} ms a block of 1000 transactions and 2500 transfers`
  return [
    { name: `block scan, ${many.rows} ÷ ${few.rows} addresses`, goal: { atLeast: 0.6 }, figure: ratio, unit: '', note },
  ]
}

/** Each direction once, so that none is priced yet by the book in force; then one of them as often. */
export async function benchColdQuotes({ process }: House): Promise<Result[]> {
  const port = process.report('house')
  const pairs = await allPairs(async (path) => (await read(port, path)).json())
  const load = { port, connections: 1, status: 200, isAwake: false }
  const times: { cold: number[]; warm: number[] } = { cold: [], warm: [] }
  for (let round = 0; round < 4; round++) {
    // Longer than the book's pace: every direction is cold again.
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
      note: `median of ${pairs.length} directions in turn, one at a time`,
    },
  ]
}

export async function benchMemory(houses: readonly House[]): Promise<Result[]> {
  const used = await Promise.all(houses.map(({ process }) => process.usage()))
  const megabytes = Math.max(...used.map(({ rssBytes }) => rssBytes)) / 1024 / 1024
  return [
    {
      name: 'memory of the API after the loads',
      goal: { below: RSS_GOAL_MB },
      figure: megabytes,
      unit: 'MB',
      note: 'resident; chains and database not counted',
    },
  ]
}

export async function benchWholeExchanges(ground: Ground): Promise<Result[]> {
  const databaseUrl = await ground.openDatabase('whole')
  const process = await ground.open('whole-exchanges.ts', {
    databaseUrl,
    count: WHOLE_EXCHANGES,
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
      `${WHOLE_EXCHANGES} from create to paid, two chains in memory`,
    ),
    record('commits of a whole exchange', process.report('commits'), '', 'those that write: steps, jobs, blocks'),
    record('WAL of a whole exchange', process.report('walBytes') / 1024, 'KB', 'full pages after checkpoints included'),
    {
      ...record('memory of API and worker', rssBytes / 1024 / 1024, 'MB', 'resident; both chains in it'),
      goal: { below: RSS_GOAL_MB },
    },
  ]
}
