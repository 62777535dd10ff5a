import { parseArgs } from 'node:util'
import { listAlarms } from './alarms.ts'
import { benchCreates, benchFeed, benchMemory, benchPolls, benchWholeExchanges } from './benchmarks.ts'
import { benchBlockScan } from './block-scan.ts'
import { benchConsole } from './console.ts'
import { benchDeliveries, benchStreams } from './events.ts'
import { benchFirstPaint } from './first-paint.ts'
import { type App, type Infrastructure, startInfrastructure } from './infrastructure.ts'
import { benchPrivate } from './private-exchanges.ts'
import { benchQuotes } from './quotes.ts'
import { benchReferenceRouters } from './reference-routers.ts'
import { formatRun, formatTable, type Result, readCommit, readLoadAverage, saveRun, whyNotSaved } from './results.ts'
import type { Pace } from './rounds.ts'
import { benchStart } from './start.ts'
import { benchSwapQuotes } from './swap-quotes.ts'
import { benchSwaps } from './swap-routing.ts'

/*
 * Prints ratios of measurements of the same run instead of times, so that the results depend little on the machine.
 * docs/performance.md describes each benchmark. A missed goal is printed as MISS and does not change the exit code; a benchmark that
 * fails does.
 */
const partsOfApps = ['feed', 'quotes', 'streams', 'polls', 'creates', 'memory', 'scan']
const serverParts = ['whole', 'deliveries', ...partsOfApps, 'console', 'private', 'swapquotes']
const usage = `usage: npm run bench -- [--only ${serverParts.join(',')},swaps,routers,start,firstpaint] [--rounds 5] [--round-ms 1500] [--rows 1000000] [--profile FOLDER] [--save]`
const SMALL_TABLE_ROWS = 1_000

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    'round-ms': { type: 'string', default: '1500' },
    rows: { type: 'string', default: '1000000' },
    profile: { type: 'string' },
    save: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const commit = readCommit()
const obstacle = values.save ? whyNotSaved(commit) : null
if (values.help) console.log(usage)
else if (obstacle === null) await main()
else {
  console.error(obstacle)
  process.exitCode = 1
}

type Run = Readonly<{
  print(line: string): void
  isChosen(...names: string[]): boolean
  /** Adds the results of a chosen benchmark. The others continue if it fails. */
  add(name: string, bench: () => Promise<Result[]>): Promise<void>
}>

async function main(): Promise<void> {
  const startedAt = new Date()
  const loadBefore = readLoadAverage()
  const results: Result[] = []
  const run = createRun(startedAt, results)
  const postgres = run.isChosen(...serverParts) ? await benchServers(run) : 'not used'
  await run.add('start', () => benchStart(run.print))
  await run.add('firstpaint', () => benchFirstPaint(run.print))
  await run.add('swaps', benchSwaps)
  await run.add('routers', benchReferenceRouters)
  const options = process.argv.slice(2).join(' ')
  const conditions = { startedAt, commit, loadBefore, loadAfter: readLoadAverage(), postgres, options }
  const text = formatRun(conditions, formatTable(results))
  console.log(`\n${text}`)
  if (values.save) console.log(`saved as ${saveRun(startedAt, text)}`)
}

function createRun(startedAt: Date, results: Result[]): Run {
  const chosen = values.only?.split(',')
  const isChosen = (...names: string[]) => chosen === undefined || names.some((name) => chosen.includes(name))
  const print = (line: string) =>
    console.log(`${String(Math.round((Date.now() - startedAt.getTime()) / 1000)).padStart(4)} s  ${line}`)
  return {
    print,
    isChosen,
    add: async (name, bench) => {
      if (!isChosen(name)) return
      print(name)
      try {
        results.push(...(await bench()))
      } catch (error) {
        process.exitCode = 1
        const reason = error instanceof Error ? error.message : String(error)
        print(`${name} failed: ${reason}`)
        results.push({ name, figures: [], notJudged: `failed: ${reason.replaceAll(/\s+/g, ' ')}` })
      }
    },
  }
}

/** Runs the benchmarks that need a database and servers. Returns the version of Postgres. */
async function benchServers(run: Run): Promise<string> {
  const pace = {
    rounds: Number(values.rounds),
    roundMs: Number(values['round-ms']),
    // Until V8 has optimized the hot functions.
    warmUpMs: 2 * Number(values['round-ms']),
  }
  const infrastructure: Infrastructure = await startInfrastructure(values.profile ?? null)
  try {
    // First: it counts what the whole cluster writes.
    await run.add('whole', () => benchWholeExchanges(infrastructure))
    await run.add('deliveries', () => benchDeliveries(infrastructure))
    if (run.isChosen(...partsOfApps)) await benchApps(run, infrastructure, pace)
    await run.add('console', () => benchConsole(infrastructure, Number(values.rows)))
    await run.add('private', () => benchPrivate(infrastructure, run.print))
    await run.add('swapquotes', () => benchSwapQuotes(infrastructure, pace))
  } finally {
    await infrastructure.stop()
  }
  return infrastructure.postgresVersion
}

/** Runs the benchmarks of an API process with a worker beside it, and of two with tables of different sizes. Stops them afterwards. */
async function benchApps({ print, isChosen, add }: Run, infrastructure: Infrastructure, pace: Pace): Promise<void> {
  print(`starting an app with ${SMALL_TABLE_ROWS} exchanges`)
  const small = await infrastructure.startApp('few', SMALL_TABLE_ROWS)
  const apps: App[] = [small]
  await add('feed', () => benchFeed(infrastructure, small, pace))
  await add('quotes', () => benchQuotes(infrastructure, small, pace))
  await add('streams', () => benchStreams(infrastructure, small))
  if (isChosen('polls', 'scan', 'creates')) {
    print(`starting an app with ${values.rows} exchanges`)
    const large = await infrastructure.startApp('many', Number(values.rows))
    apps.push(large)
    await add('polls', () => benchPolls(small, large, pace))
    // After the polls, because creates insert rows.
    await add('creates', () => benchCreates(large, pace))
  }
  await add('memory', () => benchMemory(apps))
  for (const app of apps)
    for (const alarm of await listAlarms(app)) {
      process.exitCode = 1
      print(`alarm beside ${app.rows} exchanges: ${alarm}`)
    }
  const [few, many] = apps
  // Last, because it ends the workers.
  if (few && many) await add('scan', () => benchBlockScan(few, many))
  for (const app of apps) await app.stop()
}
