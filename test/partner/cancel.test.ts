import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'
import { type PartnerApp, startPartnerApp } from './partner-app.ts'

let app: PartnerApp
beforeAll(async () => {
  app = await startPartnerApp()
})
afterAll(() => app?.stop())

const path = '/v1/cross-chain/exchange'
const cancel = (id: string, headers: Record<string, string> = {}) => app.post(`${path}/cancel`, { id }, headers)
const read = async (id: string) => (await app.get(`${path}/status?id=${id}`)).json().exchange

describe('POST /v1/cross-chain/exchange/cancel', () => {
  test('cancels an exchange for which nothing was seen, once, and in every answer', async () => {
    const { id } = await app.order()
    // Fills the cache of polls.
    expect((await read(id)).status).toBe('pending')
    const key = { 'idempotency-key': 'cancel-1' }
    const first = await cancel(id, key)
    expect([first.statusCode, first.json()]).toEqual([201, { id, status: 'failed', statusReason: 'CANCELLED' }])
    expect((await cancel(id, key)).json()).toEqual(first.json())
    expect((await cancel(id)).json()).toEqual(first.json())
    expect((await cancel(id.toUpperCase())).statusCode).toBe(201)
    expect(await read(id)).toMatchObject({ status: 'failed', statusReason: 'CANCELLED', exchanges: [] })
    const listed = (await app.get(`${path}/list?status=failed`)).json()
    expect(listed.data.map((one: { id: string }) => one.id)).toContain(id)
    const other = await app.order()
    expect((await cancel(other.id, key)).json().code).toBe('IDEMPOTENCY_CONFLICT')
  })

  test('is refused with 409 as soon as the payment is seen, and the exchange is executed', async () => {
    const order = await app.order()
    app.pay(order)
    await until('the payment is seen', async () => (await read(order.id)).status !== 'pending')
    const refused = await cancel(order.id)
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'EXCHANGE_NOT_PENDING'])
    await until('the exchange is finished', async () => (await read(order.id)).status === 'finished', PATIENCE_MS)
  })

  test('a cancelled or expired exchange is not open any more: at the limit, the next create succeeds', async () => {
    const other = { 'x-api-key': 'sandbox-b' }
    const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
    const order = { ...pair, fromAmount: '0.1', flow: 'standard', address: app.recipient }
    const create = async () => {
      const { statusCode, body } = await app.post(path, order, other)
      return { statusCode, ...(JSON.parse(body) as { id: string; code: string }) }
    }
    const usage = async () => (await app.get('/v1/partner/usage', other)).json()
    await app.app.database.query("update partners set open_exchanges_max = 2 where name = 'sandbox-b'")
    await until('the limit is in force', async () => (await usage()).openExchangesMax === 2)
    const [first, second] = [await create(), await create()]
    expect([first.statusCode, second.statusCode, (await usage()).openExchanges]).toEqual([201, 201, 2])
    expect(await create()).toMatchObject({ statusCode: 429, code: 'RATE_LIMIT_EXCEEDED' })
    expect((await cancel(first.id, other)).statusCode).toBe(201)
    expect((await usage()).openExchanges).toBe(1)
    expect((await create()).statusCode).toBe(201)
    expect((await create()).statusCode).toBe(429)
    // Its row is closed a little later.
    await app.app.database.query("update exchanges set expires_at = created_at + interval '1 ms' where id = $1", [
      second.id,
    ])
    expect((await create()).statusCode).toBe(201)
    await app.app.database.query("update partners set open_exchanges_max = 1000000 where name = 'sandbox-b'")
  })

  test('finds the exchanges of its own partner only, and needs the scope of creates', async () => {
    const { id } = await app.order()
    const foreign = await cancel(id, { 'x-api-key': 'sandbox-b' })
    expect([foreign.statusCode, foreign.json().code]).toEqual([404, 'EXCHANGE_NOT_FOUND'])
    for (const wrong of ['no-such-id', '0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'])
      expect((await cancel(wrong)).json().code).toBe('EXCHANGE_NOT_FOUND')
    expect((await app.post(`${path}/cancel`, {})).json()).toMatchObject({
      code: 'VALIDATION_ERROR',
      errors: [{ field: 'id' }],
    })
    await app.app.database.query("update api_keys set scopes = '{rates:read,exchange:read}' where id = 'sandbox-b'")
    await until('the key lost its scope', async () => {
      const answer = await cancel(id, { 'x-api-key': 'sandbox-b' })
      return answer.statusCode === 403 && answer.json().code === 'SCOPE_REQUIRED'
    })
    expect((await read(id)).status).toBe('pending')
  })
})
