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
