import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../../test/support/database.ts'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { prepareDatabase } from '../../../src/app/app.ts'
import { createRecordNodeNotes } from '../../../src/exchange/operations/record-node-notes.ts'
import { createLog } from '../../../src/lib/log.ts'
import { payeeMacs } from '../../payee-macs.ts'

const log = createLog({ level: 'silent', pretty: false })
const HOUR_MS = 3_600_000

let created: Awaited<ReturnType<typeof createDatabase>>
let database: Database
let clockMs = 0
beforeAll(async () => {
  created = await createDatabase(inject('databaseUrl'))
  database = await prepareDatabase(created.url, { environment: 'sandbox', poolMax: 2, log })
})
beforeEach(() => database.query('delete from alarms'))
afterAll(async () => {
  await database.close()
  await created.drop()
})

/** The notes of one process. `warnings` are its log lines, `counted` what it adds to the metric. */
function startProcess(store = createStore(database, payeeMacs)) {
  const warnings: object[] = []
  const counted: string[] = []
  const notes = createRecordNodeNotes({
    alarms: store.alarms,
    networks: ['eth', 'bsc'],
    log: { ...log, warn: (fields) => void warnings.push(fields) },
    onNote: (network, kind) => void counted.push(`${network} ${kind}`),
    now: () => clockMs,
  })
  return { ...notes, warnings, counted }
}
const listAlarms = async () =>
  (await createStore(database, payeeMacs).alarms.list(10)).map(({ subject }) => subject).sort()
const note = (block: number) => ({ kind: 'traces-missing', node: 'eth node 1', detail: `block ${block}` }) as const

test('raises one alarm and logs one line for all notes of a turn, and counts each note', async () => {
  const process = startProcess()
  for (let block = 1; block <= 1_000; block++) process.add('eth', note(block))
  process.add('bsc', { kind: 'state-pruned', node: 'bsc node 2', detail: 'balances at block 7' })
  await process.turn()
  await process.turn()
  expect(process.counted).toHaveLength(1_001)
  expect(process.warnings).toEqual([
    { network: 'eth', note: 'traces-missing', node: 'eth node 1', detail: 'block 1000', count: 1_000 },
    { network: 'bsc', note: 'state-pruned', node: 'bsc node 2', detail: 'balances at block 7', count: 1 },
  ])
  expect(await listAlarms()).toEqual(['pruned:bsc', 'traces:eth'])
})

test('clears the alarm after an hour without a note, also one of an earlier process', async () => {
  const earlier = startProcess()
  earlier.add('eth', note(1))
  await earlier.turn()
  const later = startProcess()
  clockMs += HOUR_MS - 1
  await later.turn()
  expect(await listAlarms()).toEqual(['traces:eth'])
  later.add('eth', note(2))
  clockMs += HOUR_MS - 1
  await later.turn()
  await later.turn()
  expect(await listAlarms()).toEqual(['traces:eth'])
  clockMs += 1
  await later.turn()
  expect(await listAlarms()).toEqual([])
})

test('raises the alarm in a later turn if the database failed', async () => {
  const closed = await prepareDatabase(created.url, { environment: 'sandbox', poolMax: 2, log })
  await closed.close()
  const { alarms } = createStore(database, payeeMacs)
  let isDown = true
  const store = {
    ...createStore(database, payeeMacs),
    alarms: {
      ...alarms,
      raise: (...values: Parameters<typeof alarms.raise>) =>
        (isDown ? createStore(closed, payeeMacs).alarms : alarms).raise(...values),
    },
  }
  const process = startProcess(store)
  process.add('eth', note(1))
  await expect(process.turn()).rejects.toThrow()
  expect(await listAlarms()).toEqual([])
  isDown = false
  await process.turn()
  expect(await listAlarms()).toEqual(['traces:eth'])
  expect(process.warnings).toHaveLength(1)
})
