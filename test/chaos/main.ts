import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createRandom } from '../support/random.ts'
import { listFindings } from './checks.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { attackWithBug, attackWithoutBug, plantedBugs } from './planted-bugs.ts'
import { countFindings, createTotals, formatTable, isClean, type Totals } from './report.ts'
import { openRun, type Run } from './run.ts'
import type { Suite, SuiteContext } from './suite.ts'
import { checkpointKills } from './suites/checkpoint-kills.ts'
import { depositReorgs } from './suites/deposit-reorgs.ts'
import { moneroReorgs } from './suites/monero-reorgs.ts'
import { operations } from './suites/operations.ts'
import { races } from './suites/races.ts'
import { randomFaults } from './suites/random-faults.ts'
import { stoppedProcesses } from './suites/stopped-processes.ts'
import { stuckPayouts } from './suites/stuck-payouts.ts'
import { unansweredRequests } from './suites/unanswered-requests.ts'

/*
 * The long form of the chaos tests: faults of real processes, real nodes and a real Postgres. docs/chaos.md explains the
 * figures. The exit code is 1 if a figure is not as required.
 */
const usage = 'usage: npm run chaos [-- --minutes 10] [--seed NUMBER] [--only random,checkpoints,answers,…]'
const suites: Readonly<Record<string, Suite>> = {
  random: randomFaults,
  checkpoints: checkpointKills,
  answers: unansweredRequests,
  deposits: depositReorgs,
  monero: moneroReorgs,
  operations,
  races,
  stops: stoppedProcesses,
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
/** Running processes, which must not outlive this one. */
const open: { run: Run | null; cluster: Cluster | null } = { run: null, cluster: null }

if (values.help || !(minutes > 0) || !Number.isInteger(seed) || chosen.some((one) => one !== PLANTED && !suites[one])) {
  console.log(
    `${usage}\n--minutes is the length of the suite random; --only takes ${[...Object.keys(suites), PLANTED].join(', ')}`,
  )
  process.exitCode = values.help ? 0 : 2
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void closeAll().finally(() => process.exit(1)))
  await main().finally(closeAll)
}

async function main(): Promise<void> {
  const totals = createTotals()
  const random = createRandom(seed)
  const note: SuiteContext['note'] = (label, value) => totals.notes.set(label, value)
  log(`seed ${seed}, ${minutes} min of random faults`)
  for (const [name, suite] of Object.entries(suites))
    if (chosen.includes(name))
      await runSuite(suite, { randomMs: minutes * 60_000, isThorough: true, random, log, note }, totals)
  if (chosen.includes(PLANTED)) await runPlantedBugs(totals)
  console.log(`\n${formatTable(totals)}`)
  if (!isClean(totals)) process.exitCode = 1
}

/** Runs the cases in order on one app. A failure ends the suite, because later cases would run on a damaged app. */
async function runSuite(
  { networks, optional = [], optionalSlow = [], options, cases }: Suite,
  context: SuiteContext,
  totals: Totals,
): Promise<void> {
  open.cluster = await startCluster([...networks, ...optional, ...optionalSlow])
  const { chains } = open.cluster
  const missing = networks.filter((one) => !chains.networks.some(({ network }) => network === one))
  if (missing.length > 0) log(`skipped, no node for ${missing} is installed: ${cases.map(({ name }) => name)}`)
  else {
    open.run = await openRun(open.cluster, options)
    for (const suiteCase of cases) if (!(await runCase(open.run, suiteCase, context, totals))) break
    const [row] = await open.run.fleet.database.query<{ count: string }>('select count(*) from exchanges')
    totals.exchanges += Number(row?.count)
    const { kills, stops, fullDisks } = open.run.fleet.countFaults()
    totals.kills += kills
    totals.stops += stops
    totals.fullDisks += fullDisks
  }
  const { crashes, stops, reorgs } = open.cluster.countFaults()
  totals.crashes += crashes
  totals.stops += stops
  totals.reorgs += reorgs
  await closeAll()
}

/** Returns whether the case passed without a finding. */
async function runCase(
  run: Run,
  { name, work }: Suite['cases'][number],
  context: SuiteContext,
  totals: Totals,
): Promise<boolean> {
  log(name)
  let hasPassed = true
  try {
    await work(run, context)
  } catch (error) {
    hasPassed = false
    totals.other++
    log(`FAILED: ${error instanceof Error ? error.message : error}`)
  }
  const since = Date.now()
  const findings = await run.check()
  totals.idleMs = Math.max(totals.idleMs, Date.now() - since)
  countFindings(totals, findings)
  const lines = listFindings(findings)
  for (const line of run.fleet.interruptions.takeCounts()) log(line)
  for (const line of lines) log(`FOUND ${line}`)
  return hasPassed && lines.length === 0
}

async function runPlantedBugs(totals: Totals): Promise<void> {
  open.cluster = await startCluster(['btc', 'eth'])
  log('the attacks on a server without a planted bug')
  const lines = await attackWithoutBug(open.cluster)
  for (const line of lines) log(`FOUND ${line}`)
  totals.other += lines.length
  for (const bug of plantedBugs) {
    const [first, ...others] = await attackWithBug(open.cluster, bug)
    totals.planted.total++
    if (first !== undefined) totals.planted.detected++
    log(
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

function log(line: string): void {
  console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(5)} s  ${line}`)
}
