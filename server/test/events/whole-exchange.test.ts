import { randomUUID } from 'node:crypto'
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

test('a partner sees and changes its own webhooks alone, and a key needs the scope', async () => {
  const { body: webhook } = await call('POST', '/v1/webhooks', { url: receiver.url, events: ['swap.finished'] })
  const path = `/v1/webhooks/${webhook['id']}`
  const requests = [
    ...(['GET', 'DELETE'] as const).map((method) => [method, path] as const),
    ...['rotate', 'test', 'enable', 'disable', 'deliveries/1/redeliver'].map(
      (act) => ['POST', `${path}/${act}`] as const,
    ),
    ['GET', `${path}/deliveries`] as const,
  ]
  for (const [method, url] of requests)
    expect([url, await call(method, url, undefined, 'sandbox-b')]).toMatchObject([
      url,
      { status: 404, body: { code: 'WEBHOOK_NOT_FOUND' } },
    ])
  expect((await call('GET', '/v1/webhooks', undefined, 'sandbox-b')).body).toEqual({ data: [] })
  const { secret: _, ...shown } = webhook
  expect(await call('GET', path)).toEqual({ status: 200, body: shown })
  expect((await call('PUT', path)).status).toBe(405)

  const scopes = (list: string) =>
    memory.app.database.query('update api_keys set scopes = $1 where id = $2', [list.split(','), 'sandbox-b'])
  await scopes('exchange:read')
  await expect
    .poll(async () => (await call('GET', '/v1/webhooks', undefined, 'sandbox-b')).body['code'], PATIENCE)
    .toBe('SCOPE_REQUIRED')
  // A stream ends when its key loses the scope.
  const stream = await openStream(`${baseUrl}/v1/events`, { key: 'sandbox-b' })
  streams.push(stream)
  await scopes('webhooks:manage')
  await expect.poll(() => stream.isEnded(), PATIENCE).toBe(true)
  expect(await openStream(`${baseUrl}/v1/events`, { key: 'sandbox-b' })).toMatchObject({ status: 403 })
  expect(await call('DELETE', path)).toEqual({ status: 200, body: { id: webhook['id'], deleted: true } })
})

test('a repeated create answers with the same webhook and secret, and no table has the secret in plain text', async () => {
  const create = async (key: string, url = receiver.url) => {
    const headers = { 'x-api-key': 'sandbox', 'content-type': 'application/json', 'idempotency-key': key }
    const body = JSON.stringify({ url, events: ['swap.failed'] })
    const response = await fetch(`${baseUrl}/v1/webhooks`, { method: 'POST', headers, body })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const first = await create('one')
  expect(await create('one')).toEqual(first)
  expect(await create('one', `${receiver.url}/other`)).toMatchObject({
    status: 409,
    body: { code: 'IDEMPOTENCY_CONFLICT' },
  })
  const path = `/v1/webhooks/${first.body['id']}`
  const rotated = await call('POST', `${path}/rotate`)
  expect(rotated).toMatchObject({
    status: 201,
    body: { id: first.body['id'], secret: expect.stringMatching(/^whsec_/) },
  })

  // For a day, deliveries are signed with both.
  const before = receiver.received.length
  const test = await call('POST', `${path}/test`)
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(before + 1)
  const delivered = receiver.received.at(-1)
  expect(delivered?.event).toMatchObject({
    id: test.body['eventId'],
    type: 'webhook.test',
    data: { webhookId: first.body['id'] },
  })
  for (const secret of [String(first.body['secret']), String(rotated.body['secret'])])
    await verifyWebhook({
      body: delivered?.body ?? '',
      signature: String(delivered?.headers['x-swapyard-signature']),
      secret,
    })

  for (const table of ['webhooks', 'kept_answers', 'partner_events', 'webhook_deliveries']) {
    const rows = await memory.app.database.query<{ text: string }>(`select t::text as text from ${table} t`)
    expect(rows.length, table).toBeGreaterThan(0)
    // Nor in the hexadecimal text of bytes, or in base64.
    for (const form of ['whsec_', Buffer.from('whsec_').toString('hex'), Buffer.from('whsec_').toString('base64')])
      expect(
        rows.filter(({ text }) => text.includes(form)),
        `${table} ${form}`,
      ).toEqual([])
  }
  const { data } = (await call('GET', `${path}/deliveries`)).body as { data: { id: string }[] }
  const again = await call('POST', `${path}/deliveries/${data[0]?.id}/redeliver`)
  expect(again).toMatchObject({ status: 201, body: { eventId: test.body['eventId'] } })
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(before + 2)
  expect(receiver.received.at(-1)?.body).toBe(delivered?.body)
  expect(await call('POST', `${path}/deliveries/999999/redeliver`)).toMatchObject({
    status: 404,
    body: { code: 'DELIVERY_NOT_FOUND' },
  })
  await call('DELETE', path)
})

test('a webhook gets the types that it names, a wrong type or URL is refused, and the twenty-first webhook too', async () => {
  const bad = await call('POST', '/v1/webhooks', { url: receiver.url, events: ['exchange.done'] })
  expect(bad).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR', errors: [{ field: 'events.0' }] } })
  expect(await call('POST', '/v1/webhooks', { url: 'ftp://partner.example' })).toMatchObject({
    status: 422,
    body: { code: 'WEBHOOK_URL_REFUSED', errors: [{ field: 'url' }] },
  })
  const made: unknown[] = []
  for (let n = 0; n < 20; n++)
    made.push((await call('POST', '/v1/webhooks', { url: `${receiver.url}/${n}`, events: ['swap.failed'] })).body['id'])
  expect(await call('POST', '/v1/webhooks', { url: receiver.url })).toMatchObject({
    status: 409,
    body: { code: 'WEBHOOK_LIMIT_REACHED', errors: [{ limit: '20' }] },
  })
  // Before anything about the URL is looked up.
  expect((await call('POST', '/v1/webhooks', { url: 'ftp://partner.example' })).body['code']).toBe(
    'WEBHOOK_LIMIT_REACHED',
  )
  for (const id of made) await call('DELETE', `/v1/webhooks/${id}`)
})

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

  // What the webhooks of other tests got.
  receiver.received.splice(0)
  await memory.run(1)
  const path = ['exchange.confirming', 'exchange.exchanging', 'exchange.sending', 'exchange.finished']
  await expect.poll(() => typesOf(receiver.received.map(({ event }) => event)), PATIENCE).toEqual(path)
  await expect.poll(() => typesOf(stream.events), PATIENCE).toEqual(path)

  for (const { body: delivered, headers } of receiver.received) {
    const signature = String(headers['x-swapyard-signature'])
    expect(await verifyWebhook({ body: delivered, signature, secret })).toEqual(JSON.parse(delivered))
  }
  // The stream has the same bytes.
  expect(stream.events.map(({ data }) => data)).toEqual(receiver.received.map((one) => one.body))
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

test('a change of a fee address is an event, with what the endpoint answers', async () => {
  const stream = await openStream(`${baseUrl}/v1/events`)
  streams.push(stream)
  await memory.app.database.query(
    `insert into fee_addresses (partner_id, network, next_address, next_from, asked_by, asked_at)
     select id, 'eth', '0x52908400098527886e0f7030069857d2e4169ee7', clock_timestamp() + interval '2 days', 'k', clock_timestamp()
     from partners where name = 'sandbox'`,
  )
  await expect.poll(() => typesOf(stream.events), PATIENCE).toEqual(['partner.fee_address_changed'])
  const { body } = await call('GET', '/v1/partner/fee-addresses')
  expect(body).toMatchObject({
    data: [{ network: 'eth', address: null, next: { address: '0x52908400098527886E0F7030069857D2E4169EE7' } }],
  })
  expect(JSON.parse(stream.events[0]?.data ?? '')).toMatchObject({ type: 'partner.fee_address_changed', data: body })
})

/** A webhook for one type alone, and a stream. */
async function follow(type: string) {
  const { body } = await call('POST', '/v1/webhooks', { url: receiver.url, events: [type] })
  const stream = await openStream(`${baseUrl}/v1/events`)
  streams.push(stream)
  return {
    stream,
    dataOf: (wanted: string) => JSON.parse(stream.events.find((one) => one.type === wanted)?.data ?? '{}').data,
    readDeliveries: async () => (await call('GET', `/v1/webhooks/${body['id']}/deliveries`)).body['data'],
  }
}

test('a refund that waits for an address is an event beside the status, with what the endpoint answers', async () => {
  const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
  const { body: quote } = await call('GET', `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, amount: '1' })}`)
  const { body: created } = await call('POST', '/v1/cross-chain/exchange', {
    ...{ ...pair, fromAmount: '0.1', flow: 'standard', address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045' },
  })
  const { stream, dataOf, readDeliveries } = await follow('exchange.refund_address_required')
  const { depositAddress: address } = created['request'] as { depositAddress: string }
  // Below the minimum, and more than the fee of a refund.
  memory.memoryNetworks.get('eth')?.pay({ address, units: BigInt(Math.floor(Number(quote['min']) * 0.9e18)) })
  await expect
    .poll(() => typesOf(stream.events), PATIENCE)
    .toEqual(expect.arrayContaining(['exchange.verifying', 'exchange.refund_address_required']))
  const { body: answer } = await call('GET', `/v1/cross-chain/exchange/status?id=${created['id']}`)
  expect(answer).toMatchObject({ exchange: { status: 'verifying', statusReason: 'REFUND_ADDRESS_REQUIRED' } })
  expect(dataOf('exchange.refund_address_required')).toEqual(answer)
  await expect
    .poll(readDeliveries, PATIENCE)
    .toMatchObject([{ type: 'exchange.refund_address_required', state: 'delivered' }])
})

test('each status of a swap is an event, with what the endpoint answers', async () => {
  const { stream, dataOf, readDeliveries } = await follow('swap.finished')
  const [id, hash] = [randomUUID(), `0x${'5a'.repeat(32)}`]
  const address = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'
  const { database } = memory.app
  await database.query(
    `insert into swaps (id, partner_id, network, hash, token_in, decimals_in, units_in, token_out, decimals_out,
       expected_units, min_units, sender, recipient, fee_ppm, owes_fee, expires_by)
     select $1, partner_id, 'base', $2, $3, 18, 1500000000000000000, $3, 6, 4800000000, 4700000000, $3, $3, 0, false, 'never'
     from api_keys where id = 'sandbox'`,
    [id, hash, address],
  )
  const reach = async (status: string, change: string) => {
    await database.query(`update swaps set status = $2${change} where id = $1`, [id, status])
    await expect.poll(() => typesOf(stream.events), PATIENCE).toContain(`swap.${status}`)
    const { body: answer } = await call('GET', `/v1/defi/exchange/status?id=${id}`)
    expect(answer).toMatchObject({ id, hash, status })
    expect(dataOf(`swap.${status}`)).toEqual(answer)
    return answer
  }
  expect(await reach('confirming', '')).toMatchObject({ amountFrom: '1.5', amountTo: '4800' })
  const finished = await reach('finished', ", received_units = 4790000000, block_hash = 'h', block_height = 1")
  expect(finished).toMatchObject({ amountTo: '4790', statusReason: null })
  await expect.poll(readDeliveries, PATIENCE).toMatchObject([{ type: 'swap.finished', state: 'delivered' }])
})

test('a draining server ends its streams, and closes', async () => {
  const stream = await openStream(`${baseUrl}/v1/events`)
  expect(stream.isEnded()).toBe(false)
  memory.app.http.drain()
  await expect.poll(() => stream.isEnded(), PATIENCE).toBe(true)
  const refused = await openStream(`${baseUrl}/v1/events`)
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
})
