import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createBody } from '../../support/create-body.ts'
import { until } from '../../support/until.ts'
import { expectStatuses } from '../attacks.ts'
import { BLOCK_MS } from '../block-at-signal.ts'
import { answersRequests } from '../inject-faults.ts'
import { STARTS_TAKE_CORES } from '../interruptions.ts'
import { startLoad } from '../load.ts'
import type { Run } from '../run.ts'
import type { ServerProcess } from '../server-process.ts'
import type { Suite, SuiteContext } from '../suite.ts'

/** Longer than the driver waits for an answer of Postgres (12 s), and than Postgres keeps an idle transaction (15 s). */
const STOP_MS = 30_000
/** Answers of the other processes during one blocked event loop. */
const ANSWERS_MIN = 5
const EVERY_MS = 1_000

const order = { from: 'btc@btc', to: 'eth@eth', amount: '0.004' }

export const stoppedProcesses: Suite = {
  networks: ['btc', 'eth'],
  options: { apis: 2, workers: 2, overload: STARTS_TAKE_CORES },
  cases: [
    {
      name: 'F4: answers 503 while Postgres is stopped, and pays every exchange once without a restart of a process',
      work: stopPostgres,
    },
    {
      name: 'F25: pays every exchange once if stopped workers continue after others took over their work',
      work: stopWorkers,
    },
    {
      name: 'F25: pays once if a worker stops before a broadcast and continues after another worker paid',
      work: stopBeforeBroadcast,
    },
    {
      name: 'F25, F26: broadcasts nothing while the disks of signing journals and logs are full',
      work: fillDisks,
    },
    { name: 'F28: answers requests while the event loop of one API process is blocked', work: blockEventLoops },
  ],
}

const PENDING_PAYOUTS = "select id from payouts where state in ('reserved', 'signed')"
const isWorking = async ({ fleet }: Run) => (await fleet.database.query(PENDING_PAYOUTS)).length > 0

async function stopPostgres(run: Run, context: SuiteContext): Promise<void> {
  const { client, fleet } = run
  const load = await startLoad(run, { everyMs: EVERY_MS, random: context.random, adversaryPercent: 50 })
  await until('payouts are under way', () => isWorking(run))
  const finish = fleet.interruptApis('Postgres is stopped')
  fleet.cluster.setStopped(true)
  const continued = delay(STOP_MS).then(() => {
    fleet.cluster.setStopped(false)
    finish()
  })
  const replies = await Promise.all(
    fleet.apis.map(({ url }) =>
      client.once(url ?? '', 'POST', '/v1/cross-chain/exchange', createBody, { 'idempotency-key': randomUUID() }),
    ),
  ).finally(() => continued)
  for (const { status, retryAfter } of replies)
    assert.deepEqual([status, retryAfter !== null], [503, true], 'a create while Postgres is stopped')
  const since = Date.now()
  await until('requests are answered', () => answersRequests(run))
  context.note('answering again after Postgres was stopped', `${((Date.now() - since) / 1000).toFixed(1)} s`)
  await load.close()
  assert.deepEqual(load.errors(), [])
  expectNoCrash(run)
}

/** The first worker stops in the middle of its work, the others take over, then all are stopped. No signer answers then. */
async function stopWorkers(run: Run, context: SuiteContext): Promise<void> {
  const { database, workers } = run.fleet
  const load = await startLoad(run, { everyMs: EVERY_MS, random: context.random, adversaryPercent: 50 })
  const [first, ...others] = workers
  await until('payouts are under way', () => isWorking(run))
  // A create at a fixed rate waits for a row of the reserve, and no longer than `lock_timeout`.
  const finish = run.fleet.interruptApis('a stopped worker keeps its locks until Postgres ends its transaction')
  try {
    first?.setStopped(true)
    const pending = await database.query<{ id: string }>(PENDING_PAYOUTS)
    const ids = pending.map(({ id }) => id)
    const arePaid = async () =>
      (await database.query(`${PENDING_PAYOUTS} and id = any($1::uuid[])`, [ids])).length === 0
    await until('others paid what was under way', arePaid)
    for (const worker of others) worker.setStopped(true)
    await delay(STOP_MS / 4)
  } finally {
    for (const worker of workers) worker.setStopped(false)
    finish()
  }
  await load.close()
  assert.deepEqual(load.errors(), [])
  expectNoCrash(run)
}

/** The lease of the stopped worker runs out. When it continues, it broadcasts what another worker has sent already. */
async function stopBeforeBroadcast(run: Run): Promise<void> {
  const { customers, fleet } = run
  const [stopped, other] = fleet.workers
  if (!(stopped && other)) throw new Error('the case needs two workers')
  const point = { name: 'transaction.before-broadcast', nth: 1 }
  await Promise.all([stopped.end('SIGTERM'), other.end('SIGTERM')])
  await stopped.start({ stopAt: point })
  const purchase = await customers.buy(order)
  await until('the worker is stopped', () => stopped.killedAt().includes(point.name))
  await other.start()
  await expectStatuses(run, [purchase], ['finished'])
  stopped.setStopped(false)
  await other.end('SIGTERM')
  const next = await customers.buy(order)
  await expectStatuses(run, [next], ['finished'])
  await other.start()
  expectNoCrash(run)
}

/** A journal that failed refuses every release until its worker is restarted, because its last line may be incomplete. */
async function fillDisks(run: Run): Promise<void> {
  const { customers, fleet } = run
  for (const worker of fleet.workers) worker.setDiskFull(true)
  const bought = await Promise.all([order, order].map((requested) => customers.buy(requested)))
  const findAttempts = async (where: string) => {
    const sql = `select 1 from payouts p join attempts a on a.transaction_id = p.transaction_id
      where p.exchange_id = any($1::uuid[]) and ${where}`
    return (await fleet.database.query(sql, [bought.map(({ id }) => id)])).length
  }
  await until('they are signed', async () => (await findAttempts('true')) === bought.length)
  const failedJobs = "select 1 from graphile_worker.jobs where task_identifier = 'transaction' and attempts > 1"
  await until('broadcasts failed', async () => (await fleet.database.query(failedJobs)).length > 0)
  assert.equal(await findAttempts('a.sent_at is not null'), 0)
  expectNoCrash(run)
  for (const worker of fleet.workers) {
    worker.setDiskFull(false)
    await worker.end('SIGTERM')
    await worker.start()
  }
  await expectStatuses(run, bought, ['finished'])
}

async function blockEventLoops(run: Run, context: SuiteContext): Promise<void> {
  const { interruptions } = run.fleet
  const load = await startLoad(run, { everyMs: EVERY_MS, random: context.random, adversaryPercent: 50 })
  for (const blocked of run.fleet.apis) {
    const finish = interruptions.begin(`the event loop of ${blocked.name} is blocked`, [blocked.url ?? ''], ['503'])
    blocked.blockEventLoop()
    let isOver = false
    const answered = countAnswers(run, blocked, () => isOver)
    // A load balancer takes a process that does not answer in time, or answers 503, out of service.
    await until('its health check shows it', async () => {
      const since = Date.now()
      return (await readHealth(run, blocked)) !== 200 || Date.now() - since > BLOCK_MS / 2
    })
    isOver = true
    const count = await answered
    assert.ok(count >= ANSWERS_MIN, `the other processes answered ${count} requests`)
    await until('it is ready again', async () => (await readHealth(run, blocked)) === 200)
    finish()
  }
  await load.close()
  assert.deepEqual(load.errors(), [])
  expectNoCrash(run)
}

const readHealth = async ({ client }: Run, { url }: ServerProcess): Promise<number> =>
  (await client.once(url ?? '', 'GET', '/health/ready')).status

/** Answers of the processes that are not blocked, to requests that need the database. */
async function countAnswers(run: Run, blocked: ServerProcess, isOver: () => boolean): Promise<number> {
  const [other] = run.fleet.apis.filter((one) => one !== blocked)
  let count = 0
  while (!isOver()) {
    const path = `/v1/cross-chain/exchange/status?id=${randomUUID()}`
    if ((await run.client.once(other?.url ?? '', 'GET', path)).status === 404) count++
  }
  return count
}

function expectNoCrash({ fleet }: Run): void {
  assert.deepEqual(
    fleet.all.flatMap((one) => one.takeCrashes()),
    [],
  )
}
