import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { eventCheckpoints } from '../../src/core/services/checkpoint.ts'
import { addExchange, type EventStage, openEventStage, setStatuses } from './event-stage.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const statuses = ['confirming', 'exchanging', 'sending', 'finished']
const types = statuses.map((status) => `exchange.${status}`)

let stage: EventStage
let receiver: Receiver
let folder: string
let running: ChildProcess[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'swapyard-killed-workers-'))
  running = []
  stage = await openEventStage()
  receiver = await startReceiver()
})
afterEach(async () => {
  for (const worker of running) if (worker.exitCode === null && worker.signalCode === null) worker.kill('SIGKILL')
  await receiver.close()
  await stage.close()
  rmSync(folder, { recursive: true, force: true })
})

function startWorker(checkpoint: string, nth: number): ChildProcess {
  const file = join(import.meta.dirname, 'event-worker.ts')
  const worker = spawn(process.execPath, [file, stage.url, checkpoint, String(nth), join(folder, 'killed')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  running.push(worker)
  return worker
}

/** The lease of a killed process ends, as if its time had passed. */
const endLeases = () =>
  stage.database.query(
    'update webhook_deliveries set next_attempt_at = clock_timestamp() where next_attempt_at is not null',
  )

async function countUndelivered(): Promise<number> {
  const [row] = await stage.database.query<{ n: number }>(
    `select count(*)::int as n from partner_events e
     where not exists (select 1 from webhook_deliveries d where d.event_id = e.id and d.state = 'delivered')`,
  )
  return row?.n ?? 0
}

test('a worker that is killed at any checkpoint loses no event, and the order of each exchange stays', async () => {
  const partner = await stage.addPartner()
  await stage.events.services.webhooks.create(partner, { url: receiver.url, events: [] })
  const points = eventCheckpoints.flatMap((name) => [1, 2].map((nth) => ({ name, nth })))
  const exchanges: string[] = []
  for (const { name, nth } of points) {
    const worker = startWorker(name, nth)
    const isKilled = () => worker.signalCode !== null
    // Events until the process has come to its end.
    while (!isKilled()) {
      const id = await addExchange(stage.database, partner)
      exchanges.push(id)
      await setStatuses(stage.database, id, statuses)
      await expect.poll(async () => isKilled() || (await countUndelivered()) === 0, PATIENCE).toBe(true)
    }
    expect(worker.signalCode).toBe('SIGKILL')
    await endLeases()
  }
  expect(readFileSync(join(folder, 'killed'), 'utf8').trim().split('\n')).toEqual(points.map(({ name }) => name))

  startWorker('none', 1)
  await expect.poll(countUndelivered, PATIENCE).toBe(0)
  for (const id of exchanges) {
    const sent = receiver.received.filter(({ event }) => event.data['id'] === id).map(({ event }) => event)
    // Each at least once; a repeat follows its first attempt directly, and has its id.
    const distinct = sent.filter(({ id: eventId }, n) => eventId !== sent[n - 1]?.id)
    expect(distinct.map(({ type }) => type)).toEqual(types)
  }
})
