import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { verifyWebhook } from '../../../sdk/src/webhook.ts'
import { createDatabase } from '../../../test/support/database.ts'
import { type MemoryApp, startMemoryApp } from '../../../test/support/memory-app.ts'
import { PATIENCE } from '../../../test/support/patience.ts'
import { openStream, type StreamClient } from './event-stream-client.ts'
import { type Receiver, startReceiver } from './receiver.ts'

let memory: MemoryApp
let receiver: Receiver
let drop: () => Promise<void>
let baseUrl: string
const streams: StreamClient[] = []

beforeAll(async () => {
  const created = await createDatabase(inject('databaseUrl'))
  drop = created.drop
  memory = await startMemoryApp({ databaseUrl: created.url })
  receiver = await startReceiver()
  await memory.app.http.listen({ host: '127.0.0.1', port: 0 })
  baseUrl = `http://127.0.0.1:${(memory.app.http.server.address() as AddressInfo).port}`
})
afterAll(async () => {
  for (const stream of streams) stream.close()
  await memory.app.http.close()
  await memory.stop()
  await receiver.close()
  await drop()
})

const call = async (method: string, path: string, body?: object, key = 'sandbox') => {
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type)

test('every status of an exchange arrives in order, signed, at the webhook and in the stream of its partner alone', async () => {
  const { status, body } = await call('POST', '/v1/webhooks', { url: receiver.url })
  expect([status, body]).toMatchObject([201, { url: receiver.url, events: [], enabled: true, disabledBy: null }])
  const secret = String(body['secret'])
  expect(secret).toMatch(/^whsec_[\w-]{43}$/)
  const stream = await openStream(`${baseUrl}/v1/events`)
  const other = await openStream(`${baseUrl}/v1/events`, { key: 'sandbox-b' })
  streams.push(stream, other)
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })

  await memory.run(1)
  const path = ['exchange.confirming', 'exchange.exchanging', 'exchange.sending', 'exchange.finished']
  await expect.poll(() => typesOf(receiver.received.map(({ event }) => event)), PATIENCE).toEqual(path)
  await expect.poll(() => typesOf(stream.events), PATIENCE).toEqual(path)

  for (const { body: text, headers } of receiver.received) {
    const signature = String(headers['x-swapyard-signature'])
    expect(await verifyWebhook({ body: text, signature, secret })).toEqual(JSON.parse(text))
  }
  // The stream has the same bytes.
  expect(stream.events.map(({ data }) => data)).toEqual(receiver.received.map(({ body: text }) => text))
  expect(stream.events.map(({ id }) => id)).toEqual(receiver.received.map(({ event }) => event.id))
  expect(other.events).toEqual([])

  // `data` is what the status endpoint answers.
  const last = receiver.received.at(-1)?.event.data as { exchange: { id: string } }
  const answer = await call('GET', `/v1/cross-chain/exchange/status?id=${last.exchange.id}`)
  expect(last).toEqual(answer.body)

  const deliveries = await call('GET', `/v1/webhooks/${body['id']}/deliveries`)
  expect(deliveries.body).toMatchObject({
    data: path
      .toReversed()
      .map((type) => ({ type, state: 'delivered', attempts: 1, lastStatus: 204, lastError: null })),
  })
})
