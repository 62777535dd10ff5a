import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStore } from '../../src/adapters/postgres/exchange/store.ts'
import { createOperateAlarms } from '../../src/core/services/operate-alarms.ts'
import { openTestDatabase, type TestDatabase } from '../adapters/postgres/database.ts'
import { payeeMacs } from '../payee-macs.ts'

let app: TestDatabase
let store: ReturnType<typeof createStore>
beforeAll(async () => {
  app = await openTestDatabase()
  store = createStore(app.database, payeeMacs)
})
afterAll(() => app.close())

const note = { actor: 'ann', reason: 'a test' }

// M24: no alarm could be acknowledged, and those that strangers cause hid the others.
test('M24: alarms have a severity by their kind, and the most severe are listed first', async () => {
  for (const subject of ['stray:eth', 'held:1', 'intrusion:btc:2', 'journal:size', 'journal:behind', 'wallet:btc'])
    await store.alarms.raise(subject, 'a text', {})
  const listed = (await store.alarms.list(10)).map(({ subject, severity }) => `${subject} ${severity}`)
  expect(listed).toEqual([
    'journal:behind critical',
    'intrusion:btc:2 critical',
    'wallet:btc warning',
    'held:1 warning',
    'journal:size info',
    'stray:eth info',
  ])
})

test('M24: many alarms of one kind hide none of another kind, and those that are not listed are counted', async () => {
  await app.database.query(
    `insert into alarms (subject, alarm, raised_at)
     select 'held:many-' || n, 'a text', clock_timestamp() + n * interval '1 second' from generate_series(1, 1200) n`,
  )
  await app.database.query(
    "insert into alarms (subject, alarm, raised_at) values ('stuck:old', 'a text', clock_timestamp() - interval '1 day')",
  )
  const listed = await store.alarms.list(100)
  const held = listed.filter(({ subject }) => subject.startsWith('held:'))
  expect(held).toHaveLength(100)
  expect(held[0]).toMatchObject({ subject: 'held:many-1200', more: 0 })
  // 1 200 and the one of the test before.
  expect(held.at(-1)).toMatchObject({ subject: 'held:many-1101', more: 1_101 })
  expect(listed.find(({ subject }) => subject === 'stuck:old')).toMatchObject({ severity: 'warning', more: 0 })
  const ofKind = await store.alarms.list(1_000, 'held')
  expect([ofKind.length, ofKind.at(-1)?.subject, ofKind.at(-1)?.more]).toEqual([1_000, 'held:many-201', 201])
  await app.database.query("delete from alarms where subject ~ '^(held:many|stuck:)'")
})

test('M24: an acknowledged alarm stays open, is not counted as new, and stays acknowledged when it is raised again', async () => {
  const count = async () =>
    (await store.alarms.count()).map(({ kind, severity, count }) => `${kind} ${severity} ${count}`)
  await store.alarms.raise('wallet:ltc', 'a text', {})
  expect(await count()).toContain('wallet warning 2')
  await createOperateAlarms(store).acknowledge('wallet:ltc', note)
  await store.alarms.raise('wallet:ltc', 'another text', {})
  expect(await count()).toContain('wallet warning 1')
  expect(await store.alarms.find('wallet:ltc')).toMatchObject({ acknowledgedBy: 'ann', alarm: 'another text' })
})

test('a resolved alarm ends, and begins again without the acknowledgement if it is raised again', async () => {
  const operate = createOperateAlarms(store)
  await operate.resolve('wallet:ltc', note)
  expect(await store.alarms.find('wallet:ltc')).toBeNull()
  await expect(operate.resolve('wallet:ltc', note)).rejects.toThrow('wallet:ltc is no open alarm')
  await store.alarms.raise('wallet:ltc', 'a text', {})
  expect(await store.alarms.find('wallet:ltc')).toMatchObject({ acknowledgedBy: null })
  const acts = await app.database.query(
    "select act, actor, reason from operator_acts where subject = 'wallet:ltc' order by id",
  )
  expect(acts).toEqual([
    { act: 'alarm ack', actor: 'ann', reason: 'a test' },
    { act: 'alarm resolve', actor: 'ann', reason: 'a test' },
  ])
})
