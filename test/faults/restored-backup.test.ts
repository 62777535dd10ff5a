import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { App } from '../../server/src/app/app.ts'
import { importDepartures } from '../../server/src/exchange/operations/restore-signed-payouts.ts'
import { createDatabase } from '../support/database.ts'
import { isFinished, type MemoryGround, startMemoryGround } from '../support/memory-ground.ts'
import { until } from '../support/until.ts'

type Made = Awaited<ReturnType<typeof createDatabase>>
let ground: MemoryGround
let live: Made
let backup: Made | null = null

beforeAll(async () => {
  ground = await startMemoryGround('the restored house')
  live = await createDatabase(inject('databaseUrl'))
})
afterAll(async () => {
  await ground.stop()
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
    await tx.signingJournal.begin()
    for (const { scope } of await tx.pauses.list()) await tx.pauses.resume(scope)
    await tx.alarms.clear('database:older')
  })

test('F7: yesterday’s backup under the current journal pays nobody twice: payouts are held, what is missing is listed and taken in', async () => {
  const first = await ground.open({ databaseUrl: live.url })
  await ground.fund(first.house)
  const early = await ground.order(first.house)
  ground.pay(early)
  await until('the early exchange is finished', () => isFinished(first.house, early))
  // Created before the backup, paid after it: the backup knows the address, and neither deposit nor payout.
  const [late, lost] = [await ground.order(first.house), await ground.order(first.house)]
  await first.stop()
  backup = await copy(live)

  const second = await ground.open({ databaseUrl: live.url })
  for (const order of [late, lost]) ground.pay(order)
  for (const order of [late, lost]) await until('a late exchange is finished', () => isFinished(second.house, order))
  const paid = await Promise.all([late, lost].map((order) => ground.received(second.house, order)))
  expect(paid.every((units) => units > 0n)).toBe(true)
  const [sent, untold] = await Promise.all(
    [late, lost].map(async ({ id }) => {
      const [row] = await second.house.database.query<{ tx_hash: string; id: string }>(
        'select a.tx_hash, p.id from payouts p join attempts a on a.transaction_id = p.transaction_id where p.exchange_id = $1',
        [id],
      )
      return row
    }),
  )
  await second.stop()

  const restored = await ground.open({ databaseUrl: backup.url })
  const pauses = await restored.house.store.pauses.list()
  expect(pauses.map(({ scope }) => scope)).toContain('payouts:all')
  const alarm = (await restored.house.store.alarms.list(100)).find(({ subject }) => subject === 'database:older')
  expect(alarm?.detail).toMatchObject({
    missing: expect.arrayContaining([
      expect.objectContaining({ txHash: sent?.tx_hash, address: late.recipient }),
      expect.objectContaining({ txHash: untold?.tx_hash, address: lost.recipient }),
    ]),
  })
  // The deposits are found again and ask for their payouts again: under the same ids.
  for (const payout of [sent, untold])
    await until('the payout waits again', async () => (await rows(restored.house, 'id = $1', payout?.id)).length === 1)
  await restored.stop()

  // Another worker, whose own journal knows nothing of it, is held by the same row.
  const other = await ground.open({ databaseUrl: backup.url, journal: 'another.log' })
  const behind = await ground.order(other.house)
  ground.pay(behind)
  await until('a payout of after the restore waits as well', async () => {
    const waiting = await rows(other.house, "exchange_id = $1 and state = 'reserved'", behind.id)
    return waiting.length === 1
  })
  const all = [late.id, lost.id, behind.id]
  expect(await rows(other.house, "exchange_id = any($1) and state <> 'reserved'", all)).toEqual([])

  // One is taken in again; the other one's bytes are lost with its journal: what is put aside for a person.
  await other.house.database.query('delete from forgotten_transactions where tx_hash = $1', [untold?.tx_hash])
  await importDepartures(other.house.store)
  await until('it is found on the chain', () => isFinished(other.house, late))
  await release(other.house)
  await until('the one without bytes is put aside', async () => {
    // The ledger misses what it paid, and the reconciler pauses for that: a person books it, or goes on as here.
    await release(other.house)
    return (await rows(other.house, "id = $1 and attention = 'RELEASED'", untold?.id)).length === 1
  })
  await until('the payout of after the restore is made', async () => {
    await release(other.house)
    return isFinished(other.house, behind)
  })
  expect(await Promise.all([late, lost].map((order) => ground.received(other.house, order)))).toEqual(paid)
  await other.stop()

  // The signer of before is content: its records are settled, and the new life is one that the database knows.
  const back = await ground.open({ databaseUrl: backup.url })
  expect((await back.house.store.pauses.list()).map(({ scope }) => scope)).not.toContain('payouts:all')
  expect(await Promise.all([late, lost].map((order) => ground.received(back.house, order)))).toEqual(paid)
})
