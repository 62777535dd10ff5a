import type { ServerResponse } from 'node:http'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { freePort } from '@swapyard/lib/free-port.ts'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import type { Delivery, Webhook } from '../../src/events/domain/webhook.ts'
import { authoritySigned } from './authority-signed.ts'
import { addExchange, type EventStage, openEventStage, passTime, setStatuses } from './event-stage.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { selfSigned } from './self-signed.ts'

const statuses = ['confirming', 'exchanging', 'sending', 'finished']
const types = statuses.map((status) => `exchange.${status}`)

let stage: EventStage
let partner: Partner
let receivers: Receiver[]
beforeEach(async () => {
  receivers = []
  stage = await openEventStage({ deliveryTimeoutMs: 1_000 })
  partner = await stage.addPartner()
})
afterEach(async () => {
  // A receiver that does not answer holds its requests.
  for (const receiver of receivers) await receiver.close()
  await stage.close()
})

async function start(options: Parameters<typeof startReceiver>[0] = {}): Promise<Receiver> {
  const receiver = await startReceiver(options)
  receivers.push(receiver)
  return receiver
}
const addWebhook = async (url: string): Promise<Webhook> =>
  (await stage.events.services.webhooks.create(partner, { url, events: [] })).webhook
const readDeliveries = ({ id }: Webhook): Promise<readonly Delivery[]> =>
  stage.events.services.webhooks.deliveries(partner, id, null, 500)

/** Lets retry times pass until all deliveries of these webhooks are delivered. */
async function waitUntilDelivered(...webhooks: readonly Webhook[]): Promise<void> {
  await expect
    .poll(async () => {
      await passTime(stage.database)
      const all = (await Promise.all(webhooks.map(readDeliveries))).flat()
      return [all.length > 0, all.filter(({ state }) => state === 'pending').length]
    }, PATIENCE)
    .toEqual([true, 0])
}

/** The events that were accepted by the receiver, for each exchange, each once. */
function acceptedBy({ received }: Receiver, accepted: ReadonlySet<number>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const seen = new Set<string>()
  for (const [index, { event }] of received.entries()) {
    if (!accepted.has(index + 1) || seen.has(event.id)) continue
    seen.add(event.id)
    const exchange = String(event.data['id'])
    found.set(exchange, [...(found.get(exchange) ?? []), event.type])
  }
  return found
}

/** Every way in which an answer can fail. */
const failures: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'status 500': (response) => response.writeHead(500).end('oops'),
  'status 404': (response) => response.writeHead(404).end(),
  'status 302: redirects are not followed': (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  'no answer within 1 s': () => undefined,
  UND_ERR_SOCKET: (response) => response.socket?.destroy(),
  'no answer': (response) => response.socket?.end('this is not HTTP\r\n\r\n'),
}

test('a receiver that fails in every way gets every event of every exchange, in order', async () => {
  const modes = Object.values(failures)
  const accepted = new Set<number>()
  const failed = new Map<string, number>()
  const receiver = await start({
    // Each event fails twice, in ways of its own. After a lost answer, it may have been processed: it comes again.
    respond: ({ event }, response, nth) => {
      const tries = failed.get(event.id) ?? 0
      failed.set(event.id, tries + 1)
      const mode = modes[(failed.size + tries) % modes.length]
      if (tries < 2) return mode?.(response)
      accepted.add(nth)
      return response.writeHead(200).end('x'.repeat(100_000))
    },
  })
  const webhook = await addWebhook(receiver.url)
  const exchanges = await Promise.all(Array.from({ length: 6 }, () => addExchange(stage.database, partner)))
  stage.startWorkers()
  await Promise.all(exchanges.map((id) => setStatuses(stage.database, id, statuses)))
  await expect.poll(async () => (await readDeliveries(webhook)).length, PATIENCE).toBe(24)
  await waitUntilDelivered(webhook)

  const inOrder = acceptedBy(receiver, accepted)
  for (const id of exchanges) expect(inOrder.get(id)).toEqual(types)
  expect((await readDeliveries(webhook)).map(({ attempts }) => attempts)).toEqual(Array(24).fill(3))
  // No later event of an exchange is sent before an earlier one was accepted.
  for (const id of exchanges) {
    const sent = receiver.received.filter(({ event }) => event.data['id'] === id).map(({ event }) => event.type)
    expect(sent).toEqual(types.flatMap((type) => [type, type, type]))
  }
  // A repeat has the same bytes.
  const bodies = new Map<string, Set<string>>()
  for (const { event, body } of receiver.received) bodies.set(event.id, (bodies.get(event.id) ?? new Set()).add(body))
  expect([...bodies.values()].map(({ size }) => size)).toEqual(Array(24).fill(1))
})

test.each(Object.entries(failures))('names the failure: %s', async (reason, fail) => {
  const receiver = await start({ respond: (_received, response) => fail(response) })
  const webhook = await addWebhook(receiver.url)
  stage.startWorkers()
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(async () => (await readDeliveries(webhook)).at(0)?.lastError, PATIENCE).toBe(reason)
  expect((await readDeliveries(webhook)).at(0)).toMatchObject({ state: 'pending', attempts: 1 })
})

test('a redirect is never followed', async () => {
  const target = await start()
  const receiver = await start({
    respond: (_received, response) => response.writeHead(307, { location: target.url }).end(),
  })
  const webhook = await addWebhook(receiver.url)
  stage.startWorkers()
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(async () => (await readDeliveries(webhook)).at(0)?.lastStatus, PATIENCE).toBe(307)
  expect([receiver.received.length, target.received.length]).toEqual([1, 0])
})

test('a receiver that is not there, and one with a certificate that no authority signed, get everything when they are right', async () => {
  const authorities = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(authorities))
  setDefaultCACertificates([authoritySigned.authority])
  const port = await freePort()
  const secure = await start({ tls: selfSigned })
  const [closed, unsigned] = [await addWebhook(`http://127.0.0.1:${port}/hook`), await addWebhook(secure.url)]
  stage.startWorkers()
  await setStatuses(stage.database, await addExchange(stage.database, partner), statuses)
  await expect.poll(async () => (await readDeliveries(closed)).at(-1)?.lastError, PATIENCE).toBe('ECONNREFUSED')
  await expect
    .poll(async () => (await readDeliveries(unsigned)).at(-1)?.lastError, PATIENCE)
    .toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  expect(secure.received).toEqual([])
  const late = await start({ port })
  await secure.close()
  const signed = await start({ tls: authoritySigned, port: Number(new URL(secure.url).port) })
  await waitUntilDelivered(closed, unsigned)
  for (const { received } of [late, signed]) expect(received.map(({ event }) => event.type)).toEqual(types)
  expect(secure.received).toEqual([])
})

test('an endless answer is cut off, and its status counts', async () => {
  const receiver = await start({
    respond: (_received, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'.repeat(1_000)), 5)
      response.on('close', () => clearInterval(timer))
    },
  })
  const webhook = await addWebhook(receiver.url)
  stage.startWorkers()
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming', 'exchanging'])
  await waitUntilDelivered(webhook)
  expect(receiver.received.map(({ event }) => event.type)).toEqual(types.slice(0, 2))
})

test('receivers that never answer do not delay another one', async () => {
  const silent = await start({ respond: () => undefined })
  const quick = await start()
  for (let n = 0; n < 18; n++) await addWebhook(`${silent.url}/${n}`)
  const webhook = await addWebhook(quick.url)
  const exchanges = await Promise.all(Array.from({ length: 30 }, () => addExchange(stage.database, partner)))
  stage.startWorkers()
  await Promise.all(exchanges.map((id) => setStatuses(stage.database, id, statuses)))
  await expect.poll(async () => (await readDeliveries(webhook)).length, PATIENCE).toBe(120)
  await waitUntilDelivered(webhook)
  // On a busy machine an answer may come after the timeout of its attempt, which is then repeated.
  for (const id of exchanges) {
    const sent = quick.received.filter(({ event }) => event.data['id'] === id).map(({ event }) => event)
    const distinct = sent.filter(({ id: eventId }, n) => eventId !== sent[n - 1]?.id)
    expect(distinct.map(({ type }) => type)).toEqual(types)
  }
})

test('requests that hang at a host do not delay the events of another partner to the same host', async () => {
  const other = await stage.addPartner()
  const [own, others] = [await addExchange(stage.database, other), [] as string[]]
  for (let n = 0; n < 16; n++) others.push(await addExchange(stage.database, partner))
  // A shared receiver, which answers for one of its customers alone.
  const receiver = await start({
    respond: ({ event }, response) => event.data['id'] === own && response.writeHead(204).end(),
  })
  for (let n = 0; n < 3; n++) await addWebhook(`${receiver.url}/${n}`)
  const { webhooks } = stage.events.services
  const { webhook } = await webhooks.create(other, { url: receiver.url, events: [] })
  // Nothing ends while the test runs.
  stage.startWorkers(stage.openAnother({ deliveryTimeoutMs: 3_600_000 }))
  for (const id of others) await setStatuses(stage.database, id, ['confirming'])
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(48)
  await setStatuses(stage.database, own, ['confirming'])
  await expect
    .poll(async () => webhooks.deliveries(other, webhook.id, null, 9), PATIENCE)
    .toMatchObject([{ state: 'delivered', attempts: 1 }])
})
