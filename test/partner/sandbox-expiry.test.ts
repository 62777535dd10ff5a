import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp } from '../../server/test/core/http/app-for-tests.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'
import { type PartnerApp, startPartnerApp } from './partner-app.ts'

let app: PartnerApp
beforeAll(async () => {
  app = await startPartnerApp()
})
afterAll(() => app?.stop())

const path = '/sandbox/expiries'
const expire = (id: string, headers: Record<string, string> = {}) => app.post(path, { id }, headers)
const read = async (id: string) => (await app.get(`/v1/cross-chain/exchange/status?id=${id}`)).json().exchange
const waitForStatus = (id: string, status: string) =>
  until(`the exchange is ${status}`, async () => (await read(id)).status === status, PATIENCE_MS)

const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }

/** A create that can be sent again: each time with the same key and body. */
async function prepareCreate(flow: 'standard' | 'fixed-rate') {
  const query = new URLSearchParams({ ...pair, amount: '0.1', flow })
  const { rateId } = (await app.get(`/v1/cross-chain/rate?${query}`)).json()
  const body = { ...pair, fromAmount: '0.1', flow, address: app.recipient, ...(rateId ? { rateId } : {}) }
  return () => app.post('/v1/cross-chain/exchange', body, { 'idempotency-key': `expired ${flow}` })
}

describe('POST /sandbox/expiries', () => {
  test('lets an exchange expire now', async () => {
    const order = await app.order()
    const before = await read(order.id)
    const answer = await expire(order.id)
    expect(answer.statusCode).toBe(201)
    const { id, expiresAt } = answer.json()
    expect(id).toBe(order.id)
    expect(Date.parse(expiresAt)).toBeLessThan(Date.now())
    expect(Date.parse(before.expiresAt) - Date.parse(expiresAt)).toBeGreaterThan(23 * 3_600_000)
    await waitForStatus(order.id, 'failed')
    expect(await read(order.id)).toMatchObject({ statusReason: 'EXPIRED', expiresAt, exchanges: [] })
  })

  test.each(['standard', 'fixed-rate'] as const)(
    'leaves the answer that a repeat of the create has (%s)',
    async (flow) => {
      const create = await prepareCreate(flow)
      const first = await create()
      expect(first.statusCode).toBe(201)
      const { id, expiresAt, fixedUntil } = first.json()
      expect(fixedUntil === null).toBe(flow === 'standard')
      // The second is refused.
      for (const status of [201, 409]) {
        expect((await expire(id)).statusCode).toBe(status)
        await waitForStatus(id, 'failed')
        expect((await read(id)).expiresAt).not.toBe(expiresAt)
        expect((await create()).body).toBe(first.body)
      }
    },
  )

  test('is refused with 409 as soon as the payment is seen, and the exchange is executed', async () => {
    const order = await app.order()
    app.pay(order)
    await until('the payment is seen', async () => (await read(order.id)).status !== 'pending')
    const refused = await expire(order.id)
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'EXCHANGE_NOT_PENDING'])
    await waitForStatus(order.id, 'finished')
  })

  test('finds the exchanges of its own partner only', async () => {
    const { id } = await app.order()
    const foreign = await expire(id, { 'x-api-key': 'sandbox-b' })
    expect([foreign.statusCode, foreign.json().code]).toEqual([404, 'EXCHANGE_NOT_FOUND'])
    expect((await read(id)).status).toBe('pending')
    expect((await app.post(path, {})).json()).toMatchObject({ code: 'VALIDATION_ERROR', errors: [{ field: 'id' }] })
  })

  test('does not exist outside the sandbox', async () => {
    const production = createTestApp()
    const headers = { 'x-api-key': 'sandbox' }
    const answer = await production.app.inject({ method: 'POST', url: path, headers, payload: { id: 'any' } })
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'ROUTE_NOT_FOUND'])
    await production.app.close()
  })
})
