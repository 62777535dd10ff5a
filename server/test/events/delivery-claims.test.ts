import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { listen } from '../../src/adapters/postgres/core/listen.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import type { Delivery, Webhook } from '../../src/events/domain/webhook.ts'
import { addExchange, type EventStage, openEventStage, setStatuses } from './event-stage.ts'
import { type Receiver, startReceiver } from './receiver.ts'

let stage: EventStage
let partner: Partner
let receiver: Receiver
let webhook: Webhook
let changes: { stop(): Promise<void> }
/** Requests that wait for `answer`. */
let held: ServerResponse[]
beforeEach(async () => {
  // A request that a test holds does not end before the test answers it.
  const deliveryTimeoutMs = 3_600_000
  stage = await openEventStage({ deliveryTimeoutMs, mail: { url: 'smtp://127.0.0.1:9', from: 'a@swapyard.example' } })
  partner = await stage.addPartner('ops@partner.example')
  receiver = await startReceiver()
  held = []
  webhook = (await stage.events.services.webhooks.create(partner, { url: receiver.url, events: [] })).webhook
  changes = await listen(
    stage.url,
    stage.events.onNotice(() => undefined),
    () => undefined,
  )
  stage.startWorkers()
})
afterEach(async () => {
  await receiver.close()
  await changes.stop()
  await stage.close()
})

const fail = () => receiver.respond((_received, response) => response.writeHead(500).end())
const hold = () => receiver.respond((_received, response) => held.push(response))
const answer = (status: number) => held.shift()?.writeHead(status).end()
const typesOf = () => receiver.received.map(({ event }) => event.type)
const enable = () => stage.events.services.webhooks.setEnabled(partner, webhook.id, true)
const readWebhook = () => stage.events.services.webhooks.find(partner, webhook.id)
const countMails = async () => (await stage.database.query('select 1 from mails')).length
/** Of exchanges, the oldest first. */
const readDeliveries = async (): Promise<readonly Delivery[]> =>
  (await stage.events.services.webhooks.deliveries(partner, webhook.id, null, 100))
    .filter(({ type }) => type !== 'webhook.test')
    .toReversed()
const countFailed = async () =>
  Number(/webhook_attempts_total\{outcome="failed"\} (\d+)/.exec(await stage.metrics.render())?.[1])

const hasFailed = (delivery: Delivery | undefined, before: number): boolean =>
  delivery !== undefined && delivery.attempts > before && delivery.lastError === 'status 500'

/** Until a test event is accepted: everything that was due before it is claimed, and the results before its own are stored. */
async function passTest(): Promise<void> {
  const { webhooks } = stage.events.services
  const eventId = await webhooks.test(partner, webhook.id)
  const isAccepted = async () =>
    (await webhooks.deliveries(partner, webhook.id, null, 100)).some(
      (one) => one.eventId === eventId && one.state === 'delivered',
    )
  await expect.poll(isAccepted, PATIENCE).toBe(true)
}

/** Connections that wait for a lock. */
const countWaiting = async () =>
  (
    await stage.database.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length

/** As if the delivery had failed for longer than three days, and its last attempt were due. */
async function makeLast(): Promise<void> {
  await stage.database.query(
    `update webhook_deliveries set failing_since = clock_timestamp() - interval '73 hours', next_attempt_at = clock_timestamp()`,
  )
  await stage.database.query(`select pg_notify('webhook_deliveries_due', '')`)
}

test('a partner who lets a failing delivery be sent again uses up nothing of its three days', async () => {
  fail()
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  const startedAt = Date.now()
  let attempts = 0
  while (attempts < 25) {
    await expect.poll(async () => hasFailed((await readDeliveries())[0], attempts), PATIENCE).toBe(true)
    const [delivery] = await readDeliveries()
    attempts = delivery?.attempts ?? 0
    await stage.events.services.webhooks.redeliver(partner, webhook.id, delivery?.id ?? '')
  }
  await expect.poll(async () => hasFailed((await readDeliveries())[0], attempts), PATIENCE).toBe(true)
  expect(await readWebhook()).toMatchObject({ disabledBy: null })
  expect(await countMails()).toBe(0)
  // The next attempt is at a time of the schedule. Each is at most six times as late as the one before, and a tenth of the pause.
  const [delivery] = await readDeliveries()
  const passedMs = Date.now() - startedAt
  expect(Number(delivery?.nextAttemptAt) - startedAt).toBeLessThan(11_000 + 7 * passedMs)
})

test('two events that are sent again together are sent one after the other', async () => {
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming', 'exchanging'])
  const endedIds = async () => (await readDeliveries()).filter(({ state }) => state === 'delivered').map(({ id }) => id)
  await expect.poll(async () => (await endedIds()).length, PATIENCE).toBe(2)
  const again = await stage.database.query<{ id: string; event_id: string; subject_id: string }>(
    'select id, event_id, subject_id from webhook_deliveries where id = any($1) order by id',
    [await endedIds()],
  )
  hold()
  const sentBefore = receiver.received.length
  const [first, second] = again
  let adding: Promise<unknown> | undefined
  // The second one is asked for before the transaction of the first one ends.
  await stage.database.transaction(async (tx) => {
    await tx.query('insert into webhook_deliveries (webhook_id, event_id, subject_id) values ($1, $2, $3)', [
      webhook.id,
      first?.event_id,
      first?.subject_id,
    ])
    adding = stage.events.services.webhooks.redeliver(partner, webhook.id, second?.id ?? '')
    await expect.poll(countWaiting, PATIENCE).toBe(1)
  })
  await adding
  await expect.poll(() => held.length, PATIENCE).toBe(1)
  const times = await stage.database.query(
    `select 1 from webhook_deliveries where state = 'pending' and next_attempt_at is null`,
  )
  expect(times).toHaveLength(1)
  receiver.respond((_received, response) => response.writeHead(204).end())
  answer(204)
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(sentBefore + 2)
})

test('a webhook that is enabled while an event is sent gets this event once, and then the next one', async () => {
  hold()
  const exchange = await addExchange(stage.database, partner)
  await setStatuses(stage.database, exchange, ['confirming', 'exchanging'])
  await expect.poll(() => held.length, PATIENCE).toBe(1)
  receiver.respond((_received, response) => response.writeHead(204).end())
  await enable()
  await passTest()
  answer(204)
  await expect
    .poll(readDeliveries, PATIENCE)
    .toMatchObject(
      ['exchange.confirming', 'exchange.exchanging'].map((type) => ({ type, state: 'delivered', attempts: 1 })),
    )
  expect(typesOf()).toEqual(['exchange.confirming', 'webhook.test', 'exchange.exchanging'])
})

test('an attempt that began before the webhook was enabled does not disable it', async () => {
  fail()
  for (let n = 0; n < 2; n++)
    await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(countFailed, PATIENCE).toBe(2)
  await expect.poll(readDeliveries, PATIENCE).toMatchObject(Array(2).fill({ lastError: 'status 500' }))
  hold()
  await makeLast()
  await expect.poll(() => held.length, PATIENCE).toBe(2)
  answer(500)
  await expect.poll(readWebhook, PATIENCE).toMatchObject({ disabledBy: 'failures' })
  expect(await countMails()).toBe(1)

  // The partner repairs the receiver; the other attempt still runs.
  receiver.respond((_received, response) => response.writeHead(204).end())
  await enable()
  answer(500)
  await expect.poll(countFailed, PATIENCE).toBe(4)
  await passTest()
  expect(await readWebhook()).toMatchObject({ disabledBy: null })
  expect(await countMails()).toBe(1)
  // It failed for the first time since the webhook was enabled, or is delivered again since.
  const since = await stage.database.query<{ old: boolean }>(
    `select failing_since < clock_timestamp() - interval '1 hour' as old from webhook_deliveries where failing_since is not null`,
  )
  expect(since.filter(({ old }) => old)).toEqual([])
})

test('the last failure of a claim that has ended does not disable the webhook', async () => {
  fail()
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(readDeliveries, PATIENCE).toMatchObject([{ lastError: 'status 500' }])
  hold()
  await makeLast()
  await expect.poll(() => held.length, PATIENCE).toBe(1)
  // Its lease ended, and another worker sends it.
  await stage.database.query('update webhook_deliveries set attempts = attempts + 1')
  receiver.respond((_received, response) => response.writeHead(204).end())
  answer(500)
  await expect.poll(countFailed, PATIENCE).toBe(2)
  await passTest()
  expect(await readWebhook()).toMatchObject({ disabledBy: null })
  expect(await countMails()).toBe(0)
  expect(await readDeliveries()).toMatchObject([{ state: 'pending', attempts: 3, lastError: null }])
})
