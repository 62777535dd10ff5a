import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PartnerApp, startPartnerApp } from './partner-app.ts'

let app: PartnerApp
beforeAll(async () => {
  app = await startPartnerApp()
})
afterAll(() => app?.stop())

const path = '/v1/cross-chain/exchange'
const order = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc', fromAmount: '0.1' }
const create = (members: object, headers: Record<string, string> = {}) =>
  app.post(path, { ...order, flow: 'standard', address: app.recipient, ...members }, headers)
const list = async (query: string, key = 'sandbox') =>
  (await app.get(`${path}/list?${query}`, { 'x-api-key': key })).json()

describe('externalId', () => {
  test('is returned by creates, statuses and lists, filters lists, and need not be unique', async () => {
    const externalId = `<b>"order" & 'one',%;=SUM(A1)`
    const created = await create({ externalId })
    expect([created.statusCode, created.json().externalId]).toEqual([201, externalId])
    const second = await create({ externalId })
    const without = await create({})
    expect([second.statusCode, without.json().externalId]).toEqual([201, null])
    const id = created.json().id
    expect((await app.get(`${path}/status?id=${id}`)).json().exchange.externalId).toBe(externalId)
    const found = await list(new URLSearchParams({ externalId }).toString())
    expect([found.total, found.data.map((one: { id: string }) => one.id)]).toEqual([2, [second.json().id, id]])
    expect(found.data[0].externalId).toBe(externalId)
    const page = await app.get(`${path}/list?${new URLSearchParams({ externalId, limit: '1' })}`)
    expect(page.headers.link).toContain(new URLSearchParams({ externalId }).toString())
    expect((await list(new URLSearchParams({ externalId }).toString(), 'sandbox-b')).total).toBe(0)
    // Exact, never a pattern.
    expect((await list('externalId=%25')).total).toBe(0)
  })

  test('is part of what an Idempotency-Key repeats', async () => {
    const key = { 'idempotency-key': 'external-1' }
    const first = await create({ externalId: 'a' }, key)
    expect((await create({ externalId: 'a' }, key)).body).toBe(first.body)
    expect((await create({ externalId: 'b' }, key)).json().code).toBe('IDEMPOTENCY_CONFLICT')
  })

  test('is 1 to 64 printable ASCII characters; empty and null are absent', async () => {
    for (const externalId of ['a'.repeat(65), 'é', 'a\u0000b', 'line\nbreak', 'tab\t', 7]) {
      const answer = await create({ externalId })
      expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'externalId'])
    }
    for (const externalId of ['', null]) expect((await create({ externalId })).json().externalId).toBeNull()
    expect((await create({ externalId: 'a'.repeat(64) })).statusCode).toBe(201)
    expect((await app.get(`${path}/list?externalId=%00`)).statusCode).toBe(400)
  })
})
