import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Job } from '../../../src/core/ports/jobs.ts'
import { deadlinesOf } from '../../../src/exchange/domain/deadlines.ts'
import { createWatchJobs } from '../../../src/exchange/operations/watch-jobs.ts'
import { createLog } from '../../../src/lib/log.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const log = createLog({ level: 'silent', pretty: false })
const DAY_MS = 86_400_000

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

const createJobWatch = () => createWatchJobs({ store: fixture.store, deadlines: deadlinesOf(DAY_MS), log })
const listSubjects = async (kind: string) =>
  (await fixture.store.alarms.list(100)).map(({ subject }) => subject).filter((subject) => subject.startsWith(kind))

describe('a job that fails', () => {
  const stepError = new Error('the listing of a deposit: nothing')
  const reportFailures = async (
    watch: ReturnType<typeof createJobWatch>,
    job: Job,
    times: number,
    error: unknown = stepError,
  ) => {
    for (let n = 0; n < times; n++) await watch.failed(job, error)
  }

  test('raises an alarm at the fifth failure, counted over all processes, and clears it when it succeeds', async () => {
    const job: Job = { kind: 'exchange', id: 'one' }
    const [first, second] = [createJobWatch(), createJobWatch()]
    await reportFailures(first, job, 2)
    await reportFailures(second, job, 2)
    expect(await listSubjects('failing:')).toEqual([])
    await reportFailures(first, job, 1)
    expect(await fixture.store.alarms.list(10)).toEqual([
      expect.objectContaining({
        subject: 'failing:exchange:one',
        detail: { kind: 'exchange', exchangeId: 'one', failures: 5, error: stepError.message },
      }),
    ])
    const third = createJobWatch()
    await third.succeeded(job)
    expect(await listSubjects('failing:')).toHaveLength(1)
    // A turn loads the failures that other processes recorded.
    await third.turn()
    await third.succeeded(job)
    expect(await listSubjects('failing:')).toEqual([])
    await reportFailures(first, job, 4)
    expect(await listSubjects('failing:')).toEqual([])
    await first.succeeded(job)
  })

  test('is not counted if a node or the database is unavailable', async () => {
    const unavailable = new AppError('NETWORK_UNAVAILABLE', 'the node does not answer')
    await reportFailures(createJobWatch(), { kind: 'dispatch', id: 'btc' }, 20, unavailable)
    await reportFailures(
      createJobWatch(),
      { kind: 'dispatch', id: 'btc' },
      20,
      new AppError('OVERLOADED', 'the database does not answer'),
    )
    expect(await listSubjects('failing:')).toEqual([])
  })

  test('loses its alarm after two minutes without a failure, in any process', async () => {
    const job: Job = { kind: 'transaction', id: 'two' }
    await reportFailures(createJobWatch(), job, 6)
    await createJobWatch().turn()
    expect(await listSubjects('failing:')).toEqual(['failing:transaction:two'])
    await fixture.database.query("update job_failures set last_at = clock_timestamp() - interval '3 minutes'")
    await createJobWatch().turn()
    expect(await listSubjects('failing:')).toEqual([])
  })

  /** Replaces the legs of an exchange, which triggers forbid. */
  const replaceLegs = (id: string, legs: readonly unknown[]) =>
    fixture.database.transaction(async (tx) => {
      await tx.query('alter table exchanges disable trigger user')
      await tx.query('update exchanges set legs = $2 where id = $1', [id, JSON.stringify(legs)])
      await tx.query('alter table exchanges enable trigger user')
    })

  test('raises an alarm for a step whose deposit has no leg', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, COIN / 200n)
    await fixture.mineBlocks(1)
    await replaceLegs(exchange.id, [])
    fixture.fakes.btc.mine(3)
    await fixture.runWatchers()
    const watch = createJobWatch()
    for (let n = 0; n < 5; n++)
      await fixture.services
        .step(exchange.id)
        .catch((error) => watch.failed({ kind: 'exchange', id: exchange.id }, error))
    expect(await listSubjects('failing:')).toEqual([`failing:exchange:${exchange.id}`])
    await replaceLegs(exchange.id, exchange.legs)
    await fixture.services.step(exchange.id)
    await watch.succeeded({ kind: 'exchange', id: exchange.id })
    expect(await listSubjects('failing:')).toEqual([])
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })
})

describe('an open execution or transaction', () => {
  const changedAt = { executions: 'updated_at', transactions: 'created_at', payouts: 'created_at' } as const
  /** Sets the time of the last change back by this many hours. */
  const setBack = async (table: keyof typeof changedAt, hours: number, ...ids: readonly string[]) => {
    await fixture.database.transaction(async (tx) => {
      await tx.query(`alter table ${table} disable trigger user`)
      await tx.query(
        `update ${table} set ${changedAt[table]} = clock_timestamp() - $2::int * interval '1 hour' where id::text = any($1::text[])`,
        [ids, hours],
      )
      await tx.query(`alter table ${table} enable trigger user`)
    })
  }

  test('raises one alarm with an owner past its deadline, until its status changes', async () => {
    const exchange = await fixture.createExchange({ refund: null })
    fixture.payDeposit(exchange, 2_900n)
    await fixture.mineBlocks(4)
    const { id } = await fixture.readExecution(exchange)
    const watch = createJobWatch()
    await setBack('executions', 23, id)
    await watch.turn()
    expect(await listSubjects('unmoved:')).toEqual([])
    await setBack('executions', 25, id)
    await watch.turn()
    await watch.turn()
    expect((await fixture.store.alarms.list(100)).filter(({ subject }) => subject.startsWith('unmoved:'))).toEqual([
      expect.objectContaining({
        subject: `unmoved:execution:${id}`,
        detail: expect.objectContaining({ status: 'verifying', exchangeId: exchange.id, owner: expect.any(String) }),
      }),
    ])
    await fixture.decide(exchange, 'fail')
    await fixture.runWorkers()
    await watch.turn()
    expect(await listSubjects('unmoved:')).toEqual([])
  })

  test('raises the alarm for a transaction, too', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, COIN / 200n)
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.mineBlocks(3)
    const [row] = await fixture.database.query<{ id: string }>(
      'select t.id from transactions t join payouts p on p.transaction_id = t.id where p.exchange_id = $1',
      [exchange.id],
    )
    await setBack('transactions', 25, row?.id ?? '')
    await createJobWatch().turn()
    expect(await listSubjects('unmoved:')).toEqual([`unmoved:transaction:${row?.id}`])
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(14)
    await createJobWatch().turn()
    expect(await listSubjects('unmoved:')).toEqual([])
  })

  test('raises the alarm for a withdrawal that is queued or held for the operator, until it is dropped', async () => {
    const withdraw = () => fixture.insertPayout('eth', ETHER, 'a-partner', 'withdrawal')
    const ids = [await withdraw(), await withdraw()]
    await fixture.store.payouts.holdForOperator(ids.slice(1), 'LIMIT')
    const watch = createJobWatch()
    await setBack('payouts', 23, ...ids)
    await watch.turn()
    expect(await listSubjects('unmoved:')).toEqual([])
    await setBack('payouts', 25, ...ids)
    await watch.turn()
    expect((await listSubjects('unmoved:')).sort()).toEqual(ids.map((id) => `unmoved:payout:${id}`).sort())
    const held = await fixture.store.alarms.find(`unmoved:payout:${ids[1]}`)
    expect(String(held?.detail['owner'])).toMatch(/^the operator/)
    for (const id of ids) await fixture.store.payouts.void(id)
    await watch.turn()
    expect(await listSubjects('unmoved:')).toEqual([])
  })

  test('has a deadline and an owner in every status that is not terminal', async () => {
    const { executions, transactions, payouts } = deadlinesOf(DAY_MS)
    const rows = await fixture.database.query<{ status: string }>(
      'select distinct from_status as status from status_edges',
    )
    const openStatuses = rows.map(({ status }) => status).filter((status) => status !== 'failed')
    expect(Object.keys(executions).sort()).toEqual(openStatuses.sort())
    for (const { ms, owner } of [executions, transactions, payouts].flatMap((states) => Object.values(states))) {
      expect(ms).toBeGreaterThan(0)
      expect(owner).not.toBe('')
    }
  })
})
