import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { ExchangeView } from '../../../src/exchange/domain/exchange.ts'
import { present } from '../../../src/lib/assert.ts'
import { createTestApp, goodOrder, listen, type TestApp } from '../../core/http/app-for-tests.ts'

const key = { 'x-api-key': 'sandbox' }
const listUrl = '/v1/cross-chain/exchange/list'
let scenario: TestApp

beforeEach(() => {
  scenario = createTestApp()
})
afterEach(() => scenario.app.close())

async function makeOne(): Promise<ExchangeView> {
  await scenario.app.inject({ method: 'POST', url: '/v1/cross-chain/exchange', headers: key, payload: goodOrder })
  return present(scenario.services.rows[0], 'the row just made').view
}

/** Many exchanges, newest first, without a create for each. */
async function makeMany(count: number): Promise<void> {
  const view = await makeOne()
  for (let index = 1; index < count; index += 1) {
    scenario.services.insert('p1', { ...view, exchange: { ...view.exchange, id: `exchange-${index}` } })
  }
}

describe('the list', () => {
  test("has the partner's exchanges without flow, and how many match", async () => {
    await makeMany(3)
    const { total, data } = (await scenario.app.inject({ url: listUrl, headers: key })).json()
    expect([total, data.length]).toEqual([3, 3])
    expect(data[0].request).not.toHaveProperty('flow')
    expect(data[0].request).toMatchObject({ depositAddress: 'deposit-btc-1', depositMemo: null, refundMemo: null })
    const other = await scenario.app.inject({ url: listUrl, headers: { 'x-api-key': 'sandbox-b' } })
    expect(other.json()).toEqual({ total: 0, data: [] })
  })

  test('filters exactly, in any case and by aliases, all at once', async () => {
    await makeMany(2)
    const total = async (query: string) =>
      (await scenario.app.inject({ url: `${listUrl}?${query}`, headers: key })).json().total
    expect(
      await total('fromCurrency=BTC&fromNetwork=bitcoin&toNetwork=ERC20&status=pending&exchangeType=standard'),
    ).toBe(2)
    expect(await total('fromCurrency=BTC&status=finished')).toBe(0)
    expect(await total('toCurrency=usd')).toBe(0)
  })

  test('comes by pages with links, which keep the filters', async () => {
    await makeMany(5)
    const answer = await scenario.app.inject({ url: `${listUrl}?limit=2&page=2&fromCurrency=btc`, headers: key })
    expect(answer.json().total).toBe(5)
    expect(answer.json().data.map(({ id }: { id: string }) => id)).toEqual(['exchange-2', 'exchange-1'])
    const target = (page: number) => `<${listUrl}?fromCurrency=btc&page=${page}&limit=2>`
    expect(answer.headers.link).toBe(
      `${target(1)}; rel="first", ${target(1)}; rel="prev", ${target(3)}; rel="next", ${target(3)}; rel="last"`,
    )
    const past = await scenario.app.inject({ url: `${listUrl}?page=999999999`, headers: key })
    expect(past.json()).toEqual({ total: 5, data: [] })
  })

  test.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=abc',
    'page=1e9',
    'page=01',
    'page=',
    'limit=0',
    'limit=501',
    'limit=%201',
  ])('%s is refused, and what would be taken is named', async (query) => {
    const answer = await scenario.app.inject({ url: `${listUrl}?${query}`, headers: key })
    expect(answer.statusCode).toBe(400)
    const range = query.startsWith('page')
      ? 'page must be a whole number from 1'
      : 'limit must be a whole number from 1 to 500'
    expect(answer.json().message).toBe(range)
  })

  test('of thousands is one valid document, streamed', async () => {
    await makeMany(3_000)
    const answer = await scenario.app.inject({ url: listUrl, headers: key })
    expect(answer.headers['content-length']).toBeUndefined()
    expect(answer.json().data.length).toBe(3_000)
  })

  test('is read no faster than the client takes it, and no further than it stays', async () => {
    const view = await makeOne()
    let read = 0
    let closed = false
    const endless = (async function* () {
      try {
        for (;;) {
          read += 1
          yield view
        }
      } finally {
        closed = true
      }
    })()
    Object.assign(scenario.services, { listExchanges: async () => ({ total: 1, rows: endless }) })
    const socket = connect(await listen(scenario.app), '127.0.0.1')
    await once(socket, 'connect')
    socket.pause()
    socket.write(`GET ${listUrl} HTTP/1.1\r\nHost: x\r\nx-api-key: sandbox\r\n\r\n`)
    // Buffers fill up, then nothing more is read.
    let before = -1
    await vi.waitUntil(
      () => {
        const still = read > 0 && read === before
        before = read
        return still
      },
      { ...PATIENCE, interval: 200 },
    )
    expect(read).toBeLessThan(200_000)
    socket.destroy()
    await vi.waitUntil(() => closed, PATIENCE)
  })

  test('that fails on the way is cut off, never closed as if it were whole', async () => {
    const view = await makeOne()
    const failing = (async function* () {
      for (let index = 0; index < 200; index += 1) yield view
      throw new Error('the connection to the database was lost')
    })()
    Object.assign(scenario.services, { listExchanges: async () => ({ total: 300, rows: failing }) })
    const url = `http://127.0.0.1:${await listen(scenario.app)}${listUrl}`
    const answer = await fetch(url, { headers: key })
    await expect(answer.text()).rejects.toThrow()
  })

  test('that fails before its first piece is a plain error', async () => {
    // biome-ignore lint/correctness/useYield: it fails before it yields.
    const failing = (async function* (): AsyncGenerator<ExchangeView> {
      throw new Error('the connection to the database was lost')
    })()
    Object.assign(scenario.services, { listExchanges: async () => ({ total: 1, rows: failing }) })
    const answer = await scenario.app.inject({ url: listUrl, headers: key })
    expect([answer.statusCode, answer.json().code]).toEqual([500, 'INTERNAL'])
  })
})
