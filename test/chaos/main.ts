import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { allFindings } from './checks.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { findNone, findPlanted, plantedBugs } from './planted-bugs.ts'
import { createRandom } from './random.ts'
import { countFindings, isClean, noTotals, type Totals, table } from './report.ts'
import { openRun, type Run } from './run.ts'
import type { Pace, Suite } from './suite.ts'
import { answersThatNeverCome } from './suites/answers-that-never-come.ts'
import { badWeather } from './suites/bad-weather.ts'
import { depositsThatVanish } from './suites/deposits-that-vanish.ts'
import { moneroBlocksThatVanish } from './suites/monero-blocks-that-vanish.ts'
import { namedPoints } from './suites/named-points.ts'
import { operations } from './suites/operations.ts'
import { races } from './suites/races.ts'
import { stuckPayouts } from './suites/stuck-payouts.ts'

/*
 * The long form of test/faults: real processes, real nodes, a real Postgres, and what goes wrong with them. docs/chaos.md
 * says what the figures mean. Ends with 1 where one is not what it must be.
 */
const usage = 'usage: npm run chaos [-- --minutes 10] [--seed NUMBER] [--only storm,points,answers,…]'
const suites: Readonly<Record<string, Suite>> = {
  storm: badWeather,
  points: namedPoints,
  answers: answersThatNeverCome,
  deposits: depositsThatVanish,
  monero: moneroBlocksThatVanish,
  operations,
  races,
  stuck: stuckPayouts,
}
const PLANTED = 'planted'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    only: { type: 'string', default: [...Object.keys(suites), PLANTED].join(',') },
    help: { type: 'boolean', default: false },
  },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
const chosen = values.only.split(',')
const startedAt = Date.now()
/** What is running now, and must not outlive this process. */
const open: { run: Run | null; cluster: Cluster | null } = { run: null, cluster: null }

if (values.help || !(minutes > 0) || !Number.isInteger(seed) || chosen.some((one) => one !== PLANTED && !suites[one])) {
  console.log(`${usage}\n--minutes is the storm's part; --only takes ${[...Object.keys(suites), PLANTED].join(', ')}`)
  process.exitCode = values.help ? 0 : 2
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void closeAll().finally(() => process.exit(1)))
  await main().finally(closeAll)
}

async function main(): Promise<void> {
  const totals = noTotals()
  const random = createRandom(seed)
  const note: Pace['note'] = (what, figure) => totals.notes.set(what, figure)
  say(`seed ${seed}, a storm of ${minutes} min`)
  for (const [name, suite] of Object.entries(suites))
    if (chosen.includes(name))
      await goThrough(suite, { stormMs: minutes * 60_000, isThorough: true, random, say, note }, totals)
  if (chosen.includes(PLANTED)) await plant(totals)
  console.log(`\n${table(totals)}`)
  if (!isClean(totals)) process.exitCode = 1
}

/** Its cases in turn, on one app. One that failed ends the suite: what came after it would say nothing. */
async function goThrough(
  { networks, optional = [], patient = [], options, cases }: Suite,
  pace: Pace,
  totals: Totals,
): Promise<void> {
  open.cluster = await startCluster([...networks, ...optional, ...patient])
  const { chains } = open.cluster
  const missing = networks.filter((one) => !chains.networks.some(({ network }) => network === one))
  if (missing.length > 0) say(`left out, no node for ${missing} is installed: ${cases.map(({ name }) => name)}`)
  else {
    open.run = await openRun(open.cluster, options)
    for (const drillCase of cases) if (!(await pass(open.run, drillCase, pace, totals))) break
    const [row] = await open.run.fleet.database.query<{ count: string }>('select count(*) from exchanges')
    totals.exchanges += Number(row?.count)
    totals.kills += open.run.fleet.kills()
  }
  const { crashes, reorgs } = open.cluster.damage()
  totals.crashes += crashes
  totals.reorgs += reorgs
  await closeAll()
}

async function pass(run: Run, { name, work }: Suite['cases'][number], pace: Pace, totals: Totals): Promise<boolean> {
  say(name)
  let isPassed = true
  try {
    await work(run, pace)
  } catch (error) {
    isPassed = false
    totals.other++
    say(`FAILED: ${error instanceof Error ? error.message : error}`)
  }
  const since = Date.now()
  const findings = await run.findings()
  totals.restMs = Math.max(totals.restMs, Date.now() - since)
  countFindings(totals, findings)
  const found = allFindings(findings)
  for (const line of found) say(`FOUND ${line}`)
  return isPassed && found.length === 0
}

async function plant(totals: Totals): Promise<void> {
  open.cluster = await startCluster(['btc', 'eth'])
  say('the attacks on a server without a planted bug')
  const none = await findNone(open.cluster)
  for (const line of none) say(`FOUND ${line}`)
  totals.other += none.length
  for (const bug of plantedBugs) {
    const [first, ...others] = await findPlanted(open.cluster, bug)
    totals.planted.of++
    if (first !== undefined) totals.planted.found++
    say(
      `planted: ${bug.name}: ${first === undefined ? 'NOT FOUND' : `${first}${others.length > 0 ? `, and ${others.length} more` : ''}`}`,
    )
  }
  await closeAll()
}

async function closeAll(): Promise<void> {
  const { run, cluster } = open
  open.run = null
  open.cluster = null
  await run?.close()
  await cluster?.stop()
}

function say(line: string): void {
  console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(5)} s  ${line}`)
}
