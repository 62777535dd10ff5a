import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE_MS } from '../support/patience.ts'
import type { Random } from '../support/random.ts'
import { until } from '../support/until.ts'
import { isLostConnection } from './client.ts'
import type { Run } from './run.ts'
import type { ServerProcess } from './server-process.ts'

const SIGNAL_MS = 200

/** A range for random numbers. */
type Span = readonly [least: number, below: number]

/** Milliseconds between two faults of the same kind. */
const KILL_MS: Span = [200, 3_000]
/** The first of so many kills is repeated while the process starts again, after this time. */
const KILLS_PER_START = 3
const START_KILL_MS: Span = [0, 800]
const CRASH_MS: Span = [6_000, 10_000]
const REORG_MS: Span = [2_500, 5_000]
/** Replaced blocks: enough to remove credited deposits (2 confirmations on btc and ltc, 3 on eth), never final ones. */
const DEPTHS: Readonly<Record<string, Span>> = { btc: [1, 5], eth: [1, 6], ltc: [1, 5] }
/** Maximum time from the last fault to recovery on a busy machine. Earlier, another fault may interrupt a restart. */
const RECOVERY_MS = 1.5 * PATIENCE_MS

export type Recoveries = Readonly<{
  /** From a kill until the process was ready. */
  processMs: readonly number[]
  /** From a crash of Postgres until requests were answered. */
  postgresMs: readonly number[]
  /** Kills of processes that were starting. */
  startKills: number
}>

/** Kills processes, crashes Postgres and reorganises chains at random for `durationMs`. Restarts processes that exit. */
export async function injectFaults(
  run: Run,
  durationMs: number,
  random: Random,
  log: (line: string) => void,
): Promise<Recoveries> {
  const { fleet } = run
  const processMs: number[] = []
  const postgresMs: number[] = []
  let [kills, startKills] = [0, 0]
  const failures: string[] = []
  const recovering = new Set<Promise<unknown>>()
  const end = Date.now() + durationMs
  const supervisor = fleet.supervise()
  const measureRecovery = (timesMs: number[], hasRecovered: () => Promise<boolean> | boolean) => {
    const since = Date.now()
    const recovery = until('the recovery', hasRecovered, Math.max(0, end - since) + RECOVERY_MS).then(
      () => timesMs.push(Date.now() - since),
      (error: Error) => failures.push(error.message),
    )
    recovering.add(recovery)
  }
  const repeat = async ([least, below]: Span, act: () => Promise<void> | void) => {
    while (Date.now() < end) {
      await delay(random.draw(least, below))
      if (Date.now() < end) await act()
    }
  }
  // On a slow machine a start may take longer than the time to the next fault, and then no process is running.
  const waitUntilRunning = () =>
    until('one process of each role is ready', () => fleet.apis.some(isUp) && fleet.workers.some(isUp), RECOVERY_MS)
  const kill = async () => {
    await waitUntilRunning()
    const one = random.oneOf(fleet.all.filter(isUp))
    await one.end('SIGKILL')
    measureRecovery(processMs, () => one.isReady())
    if (kills++ % KILLS_PER_START > 0) return
    await until(`${one.name} starts again`, () => one.isRunning(), RECOVERY_MS)
    await delay(random.draw(...START_KILL_MS))
    if (one.isRunning() && !isUp(one)) startKills++
    await one.end('SIGKILL')
  }
  const crash = async () => {
    await waitUntilRunning()
    const finish = fleet.interruptApis('Postgres crashed')
    fleet.cluster.crash(random.oneOf(['quit', 'quit', 'group']))
    // The signal takes time to arrive. Requests that are answered before it must not be measured.
    await delay(SIGNAL_MS)
    finish()
    measureRecovery(postgresMs, () => answersRequests(run))
  }
  const reorganize = async () => {
    const network = random.oneOf(fleet.cluster.chains.networks.map((one) => one.network).filter((one) => one in DEPTHS))
    const [least, below] = DEPTHS[network] ?? [1, 2]
    await fleet.cluster.reorganize(network, random.draw(least, below))
  }
  const report = async () => {
    while (Date.now() < end) {
      await delay(Math.min(10_000, end - Date.now()))
      const { crashes, reorgs } = fleet.cluster.countFaults()
      log(
        `${Math.max(0, Math.round((end - Date.now()) / 1000))} s of random faults left: ${fleet.countFaults().kills} kills, ${crashes} crashes, ${reorgs} reorgs`,
      )
    }
  }
  try {
    await Promise.all([repeat(KILL_MS, kill), repeat(CRASH_MS, crash), repeat(REORG_MS, reorganize), report()])
    await Promise.all(recovering)
    if (failures.length > 0) throw new Error(`${failures.length} recoveries timed out, the first one: ${failures[0]}`)
    await until('every process is ready', () => fleet.all.every(isUp), RECOVERY_MS)
  } finally {
    await supervisor.stop()
  }
  return { processMs, postgresMs, startKills }
}

const isUp = (one: ServerProcess): boolean => one.isReady()

/** Whether any process answers 404 for an unknown exchange, which requires the database. */
export async function answersRequests({ fleet, client }: Run): Promise<boolean> {
  const requests = fleet.apis.map(({ url }) =>
    client.once(url ?? '', 'GET', `/v1/cross-chain/exchange/status?id=${randomUUID()}`).catch((error) => {
      if (isLostConnection(error)) return null
      throw error
    }),
  )
  return (await Promise.all(requests)).some((reply) => reply?.status === 404)
}
