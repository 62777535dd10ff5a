import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { appSettings } from '../../../../test/support/app-settings.ts'
import { createDatabase } from '../../../../test/support/database.ts'
import { until } from '../../../../test/support/until.ts'
import { readOwnVectors } from '../../../../test/support/vectors.ts'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createEmbeddedPrices } from '../../../src/adapters/prices/embedded.ts'
import { createApp, prepareDatabase } from '../../../src/app/app.ts'
import { createMetrics } from '../../../src/app/metrics.ts'
import { defaultSpreads } from '../../../src/core/domain/book.ts'
import { createRecordNodeNotes } from '../../../src/exchange/operations/record-node-notes.ts'
import { present } from '../../../src/lib/assert.ts'
import { createLog } from '../../../src/lib/log.ts'
import { startFaultyNode } from '../../adapters/chains/evm/faulty-node.ts'
import { network, publicKeys } from '../../adapters/chains/evm/wallet.ts'
import { payeeMacs } from '../../payee-macs.ts'

const log = createLog({ level: 'silent', pretty: false })
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

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
    log: { ...log, warn: (fields) => void warnings.push(fields) },
    onNote: (network, kind) => void counted.push(`${network} ${kind}`),
    now: () => clockMs,
  })
  return { ...notes, warnings, counted }
}
const listAlarms = async () =>
  (await createStore(database, payeeMacs).alarms.list(10)).map(({ subject }) => subject).sort()
/** Lets time pass in the processes and, by older rows, in the database. */
async function pass(ms: number): Promise<void> {
  clockMs += ms
  await database.query(
    `update alarms set raised_at = raised_at - $1 * interval '1 millisecond', seen_at = seen_at - $1 * interval '1 millisecond'`,
    [ms],
  )
}
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
  await pass(HOUR_MS - MINUTE_MS)
  await later.turn()
  expect(await listAlarms()).toEqual(['traces:eth'])
  later.add('eth', note(2))
  await later.turn()
  await pass(HOUR_MS - MINUTE_MS)
  await later.turn()
  await later.turn()
  expect(await listAlarms()).toEqual(['traces:eth'])
  await pass(MINUTE_MS)
  await later.turn()
  expect(await listAlarms()).toEqual([])
})

test('keeps an alarm of a process that stopped until another one has run for an hour', async () => {
  const stopped = startProcess()
  stopped.add('eth', note(1))
  await stopped.turn()
  await pass(2 * HOUR_MS)
  const later = startProcess()
  await later.turn()
  await pass(HOUR_MS - 1)
  await later.turn()
  expect(await listAlarms()).toEqual(['traces:eth'])
  await pass(1)
  await later.turn()
  expect(await listAlarms()).toEqual([])
})

// Each process cleared the alarms that it had not raised itself for an hour.
test('keeps the alarm that another process raised a second ago', async () => {
  const [first, second] = [startProcess(), startProcess()]
  await pass(HOUR_MS - 1_000)
  second.add('eth', note(1))
  await second.turn()
  await pass(1_000)
  await first.turn()
  await second.turn()
  expect(await listAlarms()).toEqual(['traces:eth'])
  await pass(HOUR_MS)
  await first.turn()
  expect(await listAlarms()).toEqual([])
})

test('clears no alarm of another kind', async () => {
  const process = startProcess()
  const { alarms } = createStore(database, payeeMacs)
  await alarms.raise('stalled:eth', 'a test', {})
  process.add('eth', note(1))
  await process.turn()
  await pass(HOUR_MS)
  await process.turn()
  expect(await listAlarms()).toEqual(['stalled:eth'])
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

type Recording = Readonly<{ client: string; block: Readonly<{ number: string; hash: string }>; receipts: object[] }>

// Only workers logged notes and raised alarms, so those of an API process were counted and lost.
test('raises the alarm of a note in a process without workers', async () => {
  // Recorded from geth, which traces nothing.
  const { block, receipts } = present(
    readOwnVectors<readonly Recording[]>('evm_replies.jsonl').find(({ client }) => client === 'geth'),
    'a recorded block',
  )
  const results: Readonly<Record<string, unknown>> = {
    ...{ eth_chainId: `0x${network.evm?.chainId.toString(16)}`, eth_getBlockByNumber: block },
    ...{ eth_getBlockReceipts: receipts, eth_getLogs: [] },
  }
  const node = await startFaultyNode('')
  node.set(({ method }) =>
    method in results ? { result: results[method] } : { error: { code: -32601, message: `no method ${method}` } },
  )
  const warnings: object[] = []
  const app = await createApp({
    ...{ environment: 'sandbox', databaseUrl: created.url, poolMax: 4 },
    nodes: [{ network: network.id, rpcUrls: [node.url], tokens: {} }],
    ...{ publicKeys, signer: null, pepper: Buffer.from('a pepper of node notes') },
    prices: createEmbeddedPrices({ now: Date.now, still: true }),
    ...{ spreads: defaultSpreads, settings: appSettings, denied: [], rateLimit: false },
    api: { publicUrl: 'http://127.0.0.1', overload: null, sandboxControlUrl: 'http://127.0.0.1:9' },
    log: { ...log, warn: (fields: object) => void warnings.push(fields) },
    metrics: createMetrics({ defaults: false }),
  })
  const { reader } = present(app.chains.get(network.id), 'the chain')
  expect(await reader.block(Number(block.number))).toMatchObject({ hash: block.hash })
  await until('the alarm is raised', async () => (await listAlarms()).includes('traces:eth'))
  expect(warnings).toContainEqual(expect.objectContaining({ network: 'eth', note: 'traces-missing', count: 1 }))
  await app.stop()
  await node.stop()
})
