import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Job } from '../../../src/core/ports/jobs.ts'
import { deadlinesOf } from '../../../src/exchange/domain/deadlines.ts'
import { createWatchJobs } from '../../../src/exchange/operations/alert-stuck-jobs.ts'
import { createLog } from '../../../src/lib/log.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const log = createLog({ level: 'silent', pretty: false })
const DAY_MS = 86_400_000

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

const watcher = () => createWatchJobs({ store: fixture.store, deadlines: deadlinesOf(DAY_MS), log })
const subjects = async (kind: string) =>
  (await fixture.store.alarms.list(100)).map(({ subject }) => subject).filter((subject) => subject.startsWith(kind))

describe('a step that fails', () => {
  const broken = new Error('the listing of a deposit: nothing')
  const fails = async (watch: ReturnType<typeof watcher>, job: Job, times: number, error: unknown = broken) => {
    for (let n = 0; n < times; n++) await watch.failed(job, error)
  }

  test('for ever is an alarm from the fifth time on, in whichever process, and none once it succeeds', async () => {
    const job: Job = { kind: 'exchange', id: 'one' }
    const [here, there] = [watcher(), watcher()]
    await fails(here, job, 2)
    await fails(there, job, 2)
    expect(await subjects('failing:')).toEqual([])
    await fails(here, job, 1)
    expect(await fixture.store.alarms.list(10)).toEqual([
      expect.objectContaining({
        subject: 'failing:exchange:one',
        detail: expect.objectContaining({ failures: 5, error: broken.message }),
      }),
    ])
    const third = watcher()
    await third.succeeded(job)
    expect(await subjects('failing:')).toHaveLength(1)
    // It hears of the failures of the others with its next turn.
    await third.turn()
    await third.succeeded(job)
    expect(await subjects('failing:')).toEqual([])
    await fails(here, job, 4)
    expect(await subjects('failing:')).toEqual([])
    await here.succeeded(job)
  })

  test('because somebody is away is not counted', async () => {
    const away = new AppError('NETWORK_UNAVAILABLE', 'the node is away')
    await fails(watcher(), { kind: 'dispatch', id: 'btc' }, 20, away)
    await fails(watcher(), { kind: 'dispatch', id: 'btc' }, 20, new AppError('OVERLOADED', 'the database is away'))
    expect(await subjects('failing:')).toEqual([])
  })

  test('that succeeds is forgotten, also by processes that never saw it fail', async () => {
    const job: Job = { kind: 'transaction', id: 'two' }
    await fails(watcher(), job, 6)
    await watcher().turn()
    expect(await subjects('failing:')).toEqual(['failing:transaction:two'])
    await fixture.database.query("update job_failures set last_at = clock_timestamp() - interval '3 minutes'")
    await watcher().turn()
    expect(await subjects('failing:')).toEqual([])
  })

  /** As no release of the program does: they stand for good. */
  const giveLegs = (id: string, legs: readonly unknown[]) =>
    fixture.database.transaction(async (tx) => {
      await tx.query('alter table exchanges disable trigger user')
      await tx.query('update exchanges set legs = $2 where id = $1', [id, JSON.stringify(legs)])
      await tx.query('alter table exchanges enable trigger user')
    })

  test('is reported by the step: one deposit of a currency that is no longer listed', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, COIN / 200n)
    await fixture.blocks(1)
    await giveLegs(exchange.id, [])
    fixture.fakes.btc.mine(3)
    await fixture.watch()
    const watch = watcher()
    for (let n = 0; n < 5; n++)
      await fixture.services
        .step(exchange.id)
        .catch((error) => watch.failed({ kind: 'exchange', id: exchange.id }, error))
    expect(await subjects('failing:')).toEqual([`failing:exchange:${exchange.id}`])
    await giveLegs(exchange.id, exchange.legs)
    await fixture.services.step(exchange.id)
    await watch.succeeded({ kind: 'exchange', id: exchange.id })
    expect(await subjects('failing:')).toEqual([])
    await fixture.blocks(6)
    expect(await fixture.status(exchange)).toBe('finished')
  })
})

describe('what is open and does not move', () => {
  const now = { executions: 'updated_at', transactions: 'created_at' } as const
  /** As if it had happened so long ago. */
  const age = async (table: keyof typeof now, hours: number, id: string) => {
    await fixture.database.transaction(async (tx) => {
      await tx.query(`alter table ${table} disable trigger user`)
      await tx.query(
        `update ${table} set ${now[table]} = clock_timestamp() - $2::int * interval '1 hour' where id = $1`,
        [id, hours],
      )
      await tx.query(`alter table ${table} enable trigger user`)
    })
  }

  test('past its deadline is an alarm, once, with an owner, until it moves', async () => {
    const exchange = await fixture.order({ refund: null })
    fixture.deposit(exchange, 2_900n)
    await fixture.blocks(4)
    const { id } = await fixture.execution(exchange)
    const watch = watcher()
    await age('executions', 23, id)
    await watch.turn()
    expect(await subjects('unmoved:')).toEqual([])
    await age('executions', 25, id)
    await watch.turn()
    await watch.turn()
    expect((await fixture.store.alarms.list(100)).filter(({ subject }) => subject.startsWith('unmoved:'))).toEqual([
      expect.objectContaining({
        subject: `unmoved:execution:${id}`,
        detail: expect.objectContaining({ status: 'verifying', exchangeId: exchange.id, owner: expect.any(String) }),
      }),
    ])
    await fixture.decide(exchange, 'fail')
    await fixture.turn()
    await watch.turn()
    expect(await subjects('unmoved:')).toEqual([])
  })

  test('is a transaction, too', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, COIN / 200n)
    fixture.fakes.eth.knobs.deaf = true
    await fixture.blocks(3)
    const [row] = await fixture.database.query<{ id: string }>(
      'select t.id from transactions t join payouts p on p.transaction_id = t.id where p.exchange_id = $1',
      [exchange.id],
    )
    await age('transactions', 25, row?.id ?? '')
    await watcher().turn()
    expect(await subjects('unmoved:')).toEqual([`unmoved:transaction:${row?.id}`])
    fixture.fakes.eth.knobs.deaf = false
    await fixture.blocks(14)
    await watcher().turn()
    expect(await subjects('unmoved:')).toEqual([])
  })

  test('has a deadline and an owner in every status that is no end', async () => {
    const { executions, transactions } = deadlinesOf(DAY_MS)
    const rows = await fixture.database.query<{ status: string }>(
      'select distinct from_status as status from status_edges',
    )
    const open = rows.map(({ status }) => status).filter((status) => status !== 'failed')
    expect(Object.keys(executions).sort()).toEqual(open.sort())
    for (const { ms, owner } of [...Object.values(executions), ...Object.values(transactions)]) {
      expect(ms).toBeGreaterThan(0)
      expect(owner).not.toBe('')
    }
  })
})
