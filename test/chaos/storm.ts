import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../support/until.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'
import type { ServerProcess } from './server-process.ts'

const SIGNAL_MS = 200

type Span = readonly [least: number, below: number]

/** Milliseconds between two of each, drawn anew every time. */
const KILL_MS: Span = [200, 3_000]
const CRASH_MS: Span = [6_000, 10_000]
const REORG_MS: Span = [2_500, 5_000]
/** Blocks that go: more than confirmations (2 on btc and ltc, 3 on eth), so that what was counted goes. Above finality nothing goes. */
const DEPTHS: Readonly<Record<string, Span>> = { btc: [1, 5], eth: [1, 6], ltc: [1, 5] }
/** What a supervisor and a start may take on a busy machine, after the last blow: before it, the next one may meet the start. */
const RECOVERY_MS = 180_000

/** How long it took until a killed process was ready again, and until requests were answered after a crash of Postgres. */
export type Recoveries = Readonly<{ processMs: readonly number[]; postgresMs: readonly number[] }>

/** Bad weather for a while: kills, crashes of Postgres, reorganisations. The fleet's nurse starts again what ends. */
export async function storm(run: Run, forMs: number, random: Random, say: (line: string) => void): Promise<Recoveries> {
  const { fleet } = run
  const processMs: number[] = []
  const postgresMs: number[] = []
  const missed: string[] = []
  const recovering = new Set<Promise<unknown>>()
  const over = Date.now() + forMs
  const nurse = fleet.nurse()
  const time = (into: number[], isBack: () => Promise<boolean> | boolean) => {
    const since = Date.now()
    const back = until('it is back', isBack, Math.max(0, over - since) + RECOVERY_MS).then(
      () => into.push(Date.now() - since),
      (error: Error) => missed.push(error.message),
    )
    recovering.add(back)
  }
  const repeat = async ([least, below]: Span, act: () => Promise<void> | void) => {
    while (Date.now() < over) {
      await delay(random.draw(least, below))
      if (Date.now() < over) await act()
    }
  }
  // A slow machine may need longer to start than it is to the next blow: where nobody is at work nothing can be broken.
  const somebodyWorks = () =>
    until('somebody works', () => fleet.apis.some(isUp) && fleet.workers.some(isUp), RECOVERY_MS)
  const kill = async () => {
    await somebodyWorks()
    // Only one that has come to work: killing what starts would only show that it can be started.
    const one = random.oneOf(fleet.all.filter(isUp))
    await one.end('SIGKILL')
    time(processMs, () => one.isReady())
  }
  const crash = async () => {
    await somebodyWorks()
    fleet.cluster.crash(random.oneOf(['quit', 'quit', 'group']))
    // A signal takes its time: nobody must be timed who was answered before it arrived.
    await delay(SIGNAL_MS)
    time(postgresMs, () => answers(run))
  }
  const reorganize = async () => {
    const network = random.oneOf(fleet.cluster.chains.networks.map((one) => one.network).filter((one) => one in DEPTHS))
    const [least, below] = DEPTHS[network] ?? [1, 2]
    await fleet.cluster.reorganize(network, random.draw(least, below))
  }
  const report = async () => {
    while (Date.now() < over) {
      await delay(Math.min(10_000, over - Date.now()))
      const { crashes, reorgs } = fleet.cluster.damage()
      say(
        `storm, ${Math.max(0, Math.round((over - Date.now()) / 1000))} s left: ${fleet.kills()} kills, ${crashes} crashes, ${reorgs} reorgs`,
      )
    }
  }
  try {
    await Promise.all([repeat(KILL_MS, kill), repeat(CRASH_MS, crash), repeat(REORG_MS, reorganize), report()])
    await Promise.all(recovering)
    if (missed.length > 0) throw new Error(`${missed.length} times something did not come back: ${missed[0]}`)
    await until('every process is ready', () => fleet.all.every(isUp), RECOVERY_MS)
  } finally {
    await nurse.stop()
  }
  return { processMs, postgresMs }
}

const isUp = (one: ServerProcess): boolean => one.isReady()

/** Whether any process answers what only the database knows: that there is no such exchange. */
async function answers({ fleet, client }: Run): Promise<boolean> {
  const asked = fleet.apis.map(({ url }) =>
    client.once(url ?? '', 'GET', `/v1/cross-chain/exchange/status?id=${randomUUID()}`).catch(() => null),
  )
  return (await Promise.all(asked)).some((reply) => reply?.status === 404)
}
