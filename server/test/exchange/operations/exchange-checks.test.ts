import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import { schedule } from '../../../src/adapters/postgres/core/wake.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ eth: 100n * ETHER })
})
afterAll(() => path.close())

/** Each update of a row changes both. */
const readVersion = ({ id }: Exchange) =>
  path.database.query('select xmin::text, ctid::text, changed_by::text from exchanges where id = $1', [id])
const readCheck = async ({ id }: Exchange) =>
  (
    await path.database.query<{ seconds: number }>(
      'select extract(epoch from next_check_at - clock_timestamp())::float8 as seconds from exchange_checks where exchange_id = $1',
      [id],
    )
  )[0]?.seconds
const makeDue = ({ id }: Exchange) =>
  path.database.query("update exchange_checks set next_check_at = now() - interval '1 second' where exchange_id = $1", [
    id,
  ])
const leaseDue = async () =>
  (await path.store.jobs.leaseDue(100)).filter(({ kind }) => kind === 'exchange').map(({ id }) => id)

// M25: each check wrote a new version of the wide row, and an entry into each of its indexes.
test('M25: a check of an open exchange leaves its row of exchanges as it is', async () => {
  const unpaid = await path.createExchange()
  const paid = await path.queuePayout()
  for (const exchange of [unpaid, paid]) {
    await path.services.step(exchange.id)
    const before = await readVersion(exchange)
    await makeDue(exchange)
    expect(await leaseDue()).toEqual([exchange.id])
    await path.services.step(exchange.id)
    expect(await readVersion(exchange)).toEqual(before)
  }
  // Unpaid until its expiry after a day; open every 15 seconds.
  expect(await readCheck(unpaid)).toBeGreaterThan(86_000)
  expect(await readCheck(paid)).toBeLessThanOrEqual(15)
})

test('a closed exchange has no check, and a late deposit gives it one', async () => {
  const exchange = await path.createExchange({ fromUnits: COIN / 200n })
  path.payDeposit(exchange, COIN / 200n)
  await path.mineBlocks(6)
  expect(await path.readStatus(exchange)).toBe('finished')
  expect(await readCheck(exchange)).toBeUndefined()
  path.payDeposit(exchange, COIN / 200n)
  path.fakes.btc.mine()
  await path.runWatchers()
  expect(await readCheck(exchange)).toBeLessThanOrEqual(15)
})

test('a running step does not replace the check that a deposit schedules meanwhile', async () => {
  const exchange = await path.createExchange()
  const database = path.another(2)
  let scheduled: Promise<void> | undefined
  await path.store.transaction(async (tx) => {
    await tx.steps.load(exchange.id)
    scheduled = schedule(database, [exchange.id])
    await until('schedule waits for the exchange', async () => {
      const waiting = await path.database.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return waiting.length > 0
    })
    await tx.steps.save(exchange.id, { status: 'pending', reason: null, nextCheckAt: exchange.expiresAt, next: null })
  })
  await scheduled
  expect(await readCheck(exchange)).toBeLessThanOrEqual(15)
})
