import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { App } from '../../server/src/app/app.ts'
import { restoreSignedPayouts } from '../../server/src/exchange/operations/restore-signed-payouts.ts'
import { createDatabase } from '../support/database.ts'
import { isFinished, type MemoryCluster, startMemoryCluster } from '../support/memory-cluster.ts'
import { until } from '../support/until.ts'

type Made = Awaited<ReturnType<typeof createDatabase>>
let cluster: MemoryCluster
let live: Made
let backup: Made | null = null

beforeAll(async () => {
  cluster = await startMemoryCluster('the restored app')
  live = await createDatabase(inject('databaseUrl'))
})
afterAll(async () => {
  await cluster.stop()
  await backup?.drop()
  await live.drop()
})

/** A copy of the whole database as it is at this moment. Nobody may be connected to it. */
async function copy(from: Made): Promise<Made> {
  const made = await createDatabase(inject('databaseUrl'))
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  const name = ({ url }: Made) => new URL(url).pathname.slice(1)
  await admin.query(`drop database ${name(made)}`)
  await admin.query(`create database ${name(made)} template ${name(from)}`)
  await admin.end()
  return made
}

const rows = ({ database }: App, where: string, ...values: unknown[]) =>
  database.query(`select 1 from payouts where ${where}`, values)

/** What `swapyard signer release` does, and resuming what the watchers paused meanwhile. */
const release = ({ store }: App) =>
  store.transaction(async (tx) => {
    await tx.signingJournal.beginGeneration()
    for (const { scope } of await tx.pauses.list()) await tx.pauses.resume(scope)
    await tx.alarms.clear('database:older')
  })

test('F7: yesterday’s backup under the current journal pays nobody twice: payouts are held, what is missing is listed and taken in', async () => {
  const first = await cluster.open({ databaseUrl: live.url })
  await cluster.fund(first.app)
  const early = await cluster.order(first.app)
  cluster.pay(early)
  await until('the early exchange is finished', () => isFinished(first.app, early))
  // Created before the backup, paid after it: the backup knows the address, and neither deposit nor payout.
  const [late, lost] = [await cluster.order(first.app), await cluster.order(first.app)]
  await first.stop()
  backup = await copy(live)

  const second = await cluster.open({ databaseUrl: live.url })
  for (const order of [late, lost]) cluster.pay(order)
  for (const order of [late, lost]) await until('a late exchange is finished', () => isFinished(second.app, order))
  const paid = await Promise.all([late, lost].map((order) => cluster.received(second.app, order)))
  expect(paid.every((units) => units > 0n)).toBe(true)
  const [sent, untold] = await Promise.all(
    [late, lost].map(async ({ id }) => {
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
      expect.objectContaining({ txHash: untold?.tx_hash, address: lost.recipient }),
    ]),
  })
  // The deposits are found again and ask for their payouts again: under the same ids.
  for (const payout of [sent, untold])
    await until('the payout waits again', async () => (await rows(restored.app, 'id = $1', payout?.id)).length === 1)
  await restored.stop()

  // Another worker, whose own journal knows nothing of it, is held by the same row.
  const other = await cluster.open({ databaseUrl: backup.url, journal: 'another.log' })
  const behind = await cluster.order(other.app)
  cluster.pay(behind)
  await until('a payout of after the restore waits as well', async () => {
    const waiting = await rows(other.app, "exchange_id = $1 and state = 'reserved'", behind.id)
    return waiting.length === 1
  })
  const all = [late.id, lost.id, behind.id]
  expect(await rows(other.app, "exchange_id = any($1) and state <> 'reserved'", all)).toEqual([])

  // One is taken in again; the other one's bytes are lost with its journal: what is put aside for a person.
  await other.app.database.query('delete from forgotten_transactions where tx_hash = $1', [untold?.tx_hash])
  await restoreSignedPayouts(other.app.store)
  await until('it is found on the chain', () => isFinished(other.app, late))
  await release(other.app)
  await until('the one without bytes is put aside', async () => {
    // The ledger misses what it paid, and the reconciler pauses for that: a person books it, or goes on as here.
    await release(other.app)
    return (await rows(other.app, "id = $1 and attention = 'RELEASED'", untold?.id)).length === 1
  })
  await until('the payout of after the restore is made', async () => {
    await release(other.app)
    return isFinished(other.app, behind)
  })
  expect(await Promise.all([late, lost].map((order) => cluster.received(other.app, order)))).toEqual(paid)
  await other.stop()

  // The signer of before is content: its records are settled, and the new life is one that the database knows.
  const back = await cluster.open({ databaseUrl: backup.url })
  expect((await back.app.store.pauses.list()).map(({ scope }) => scope)).not.toContain('payouts:all')
  expect(await Promise.all([late, lost].map((order) => cluster.received(back.app, order)))).toEqual(paid)
})
