import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { App } from '../../server/src/app/app.ts'
import { restoreSignedPayouts } from '../../server/src/exchange/operations/restore-signed-payouts.ts'
import { createDatabase } from '../support/database.ts'
import { isFinished, type MemoryCluster, startMemoryCluster } from '../support/memory-cluster.ts'
import { until } from '../support/until.ts'

type TestDatabase = Awaited<ReturnType<typeof createDatabase>>
let cluster: MemoryCluster
let live: TestDatabase
let backup: TestDatabase | null = null

beforeAll(async () => {
  cluster = await startMemoryCluster('the restored app')
  live = await createDatabase(inject('databaseUrl'))
})
afterAll(async () => {
  await cluster.stop()
  await backup?.drop()
  await live.drop()
})

/** Copies the database. No client may be connected to it. */
async function copyDatabase(source: TestDatabase): Promise<TestDatabase> {
  const copy = await createDatabase(inject('databaseUrl'))
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  const name = ({ url }: TestDatabase) => new URL(url).pathname.slice(1)
  await admin.query(`drop database ${name(copy)}`)
  await admin.query(`create database ${name(copy)} template ${name(source)}`)
  await admin.end()
  return copy
}

const findPayouts = ({ database }: App, where: string, ...values: unknown[]) =>
  database.query(`select 1 from payouts where ${where}`, values)

/** Does the same as `swapyard signer release` and resumes the pauses of the watchers. */
const releaseSigner = ({ store }: App) =>
  store.transaction(async (tx) => {
    await tx.signingJournal.beginGeneration({ skipsIndexes: true })
    for (const { scope } of await tx.pauses.list()) await tx.pauses.resume(scope)
    await tx.alarms.clear('database:older')
  })

test('F7: after the restore of an old backup, holds payouts, lists and imports missing ones, and pays each once', async () => {
  const first = await cluster.open({ databaseUrl: live.url })
  await cluster.fund(first.app)
  const early = await cluster.order(first.app)
  cluster.pay(early)
  await until('the early exchange is finished', () => isFinished(first.app, early))
  // Created before the backup and paid after it: the backup has the address but neither deposit nor payout.
  const [late, unrestored] = [await cluster.order(first.app), await cluster.order(first.app)]
  await first.stop()
  backup = await copyDatabase(live)

  const second = await cluster.open({ databaseUrl: live.url })
  for (const order of [late, unrestored]) cluster.pay(order)
  for (const order of [late, unrestored])
    await until('a late exchange is finished', () => isFinished(second.app, order))
  const paid = await Promise.all([late, unrestored].map((order) => cluster.received(second.app, order)))
  expect(paid.every((units) => units > 0n)).toBe(true)
  const [sent, unknownTransaction] = await Promise.all(
    [late, unrestored].map(async ({ id }) => {
      const [row] = await second.app.database.query<{ tx_hash: string; id: string }>(
        'select a.tx_hash, p.id from payouts p join attempts a on a.transaction_id = p.transaction_id where p.exchange_id = $1',
        [id],
      )
      return row
    }),
  )
  await second.stop()

  const restored = await cluster.open({ databaseUrl: backup.url })
  const pauses = await restored.app.store.pauses.list()
  expect(pauses.map(({ scope }) => scope)).toContain('payouts:all')
  const alarm = (await restored.app.store.alarms.list(100)).find(({ subject }) => subject === 'database:older')
  expect(alarm?.detail).toMatchObject({
    missing: expect.arrayContaining([
      expect.objectContaining({ txHash: sent?.tx_hash, address: late.recipient }),
      expect.objectContaining({ txHash: unknownTransaction?.tx_hash, address: unrestored.recipient }),
    ]),
  })
  // The watcher records the deposits again, and the payouts get the same ids.
  for (const payout of [sent, unknownTransaction])
    await until(
      'the payout is reserved again',
      async () => (await findPayouts(restored.app, 'id = $1', payout?.id)).length === 1,
    )
  await restored.stop()

  // The same database row holds a worker with another signing journal.
  const other = await cluster.open({ databaseUrl: backup.url, journal: 'another.log' })
  const afterRestore = await cluster.order(other.app)
  cluster.pay(afterRestore)
  await until('a payout that is new after the restore is also held', async () => {
    const waiting = await findPayouts(other.app, "exchange_id = $1 and state = 'reserved'", afterRestore.id)
    return waiting.length === 1
  })
  const all = [late.id, unrestored.id, afterRestore.id]
  expect(await findPayouts(other.app, "exchange_id = any($1) and state <> 'reserved'", all)).toEqual([])

  // One payout is imported. The signed bytes of the other are missing, so it needs an operator.
  await other.app.database.query('delete from forgotten_transactions where tx_hash = $1', [unknownTransaction?.tx_hash])
  await restoreSignedPayouts(other.app.store)
  await until('the imported payout is confirmed', () => isFinished(other.app, late))
  await releaseSigner(other.app)
  await until('the payout without signed bytes needs attention', async () => {
    // The ledger misses the earlier payment, so the reconciler pauses. An operator books it or, as here, resumes.
    await releaseSigner(other.app)
    return (await findPayouts(other.app, "id = $1 and attention = 'RELEASED'", unknownTransaction?.id)).length === 1
  })
  await until('the payout that is new after the restore is paid', async () => {
    await releaseSigner(other.app)
    return isFinished(other.app, afterRestore)
  })
  expect(await Promise.all([late, unrestored].map((order) => cluster.received(other.app, order)))).toEqual(paid)
  await other.stop()

  // The first signing journal causes no pause: its records are settled, and the database knows its generation.
  const reopened = await cluster.open({ databaseUrl: backup.url })
  expect((await reopened.app.store.pauses.list()).map(({ scope }) => scope)).not.toContain('payouts:all')
  expect(await Promise.all([late, unrestored].map((order) => cluster.received(reopened.app, order)))).toEqual(paid)
})
