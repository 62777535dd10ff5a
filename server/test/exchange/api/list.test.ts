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

async function createExchange(): Promise<ExchangeView> {
  await scenario.app.inject({ method: 'POST', url: '/v1/cross-chain/exchange', headers: key, payload: goodOrder })
  return present(scenario.services.rows[0], 'the created row').view
}

/** One create; the other rows are inserted. The newest row comes first. */
async function insertExchanges(count: number): Promise<void> {
  const view = await createExchange()
  for (let index = 1; index < count; index += 1) {
    scenario.services.insert('p1', { ...view, exchange: { ...view.exchange, id: `exchange-${index}` } })
  }
}

describe('the list of exchanges', () => {
  test('returns the exchanges of the partner alone, without their flow, and their total', async () => {
    await insertExchanges(3)
    const { total, data } = (await scenario.app.inject({ url: listUrl, headers: key })).json()
    expect([total, data.length]).toEqual([3, 3])
    expect(data[0].request).not.toHaveProperty('flow')
    expect(data[0].request).toMatchObject({ depositAddress: 'deposit-btc-1', depositMemo: null, refundMemo: null })
    const other = await scenario.app.inject({ url: listUrl, headers: { 'x-api-key': 'sandbox-b' } })
    expect(other.json()).toEqual({ total: 0, data: [] })
  })

  test('combines filters by exact names and aliases, in upper or lower case', async () => {
    await insertExchanges(2)
    const countMatches = async (query: string) =>
      (await scenario.app.inject({ url: `${listUrl}?${query}`, headers: key })).json().total
    expect(
      await countMatches('fromCurrency=BTC&fromNetwork=bitcoin&toNetwork=ERC20&status=pending&exchangeType=standard'),
    ).toBe(2)
    // As in creates: a network by its chain id, a token by its contract on a network.
    const contract = '0xdac17f958d2ee523a2206206994597c13d831ec7'
    for (const query of ['toNetwork=1', 'toNetwork=eip155:1', `toCurrency=${contract}&toNetwork=EIP155:1`])
      expect([query, await countMatches(query)]).toEqual([query, 2])
    expect(await countMatches(`toCurrency=${contract}`)).toBe(0)
    expect(await countMatches('fromCurrency=BTC&status=finished')).toBe(0)
    expect(await countMatches('toCurrency=usd')).toBe(0)
  })

  test('returns one page, with links that keep the filters', async () => {
    await insertExchanges(5)
    const answer = await scenario.app.inject({ url: `${listUrl}?limit=2&page=2&fromCurrency=btc`, headers: key })
    expect(answer.json().total).toBe(5)
    expect(answer.json().data.map(({ id }: { id: string }) => id)).toEqual(['exchange-2', 'exchange-1'])
    const linkTo = (page: number) => `<${listUrl}?fromCurrency=btc&page=${page}&limit=2>`
    expect(answer.headers.link).toBe(
      `${linkTo(1)}; rel="first", ${linkTo(1)}; rel="prev", ${linkTo(3)}; rel="next", ${linkTo(3)}; rel="last"`,
    )
    const past = await scenario.app.inject({ url: `${listUrl}?page=999999999`, headers: key })
    expect(past.json()).toEqual({ total: 5, data: [] })
  })

  test.each(['page=0', 'page=-1', 'page=1.5', 'page=abc', 'page=1e9', 'page=01', 'limit=0', 'limit=501', 'limit=%201'])(
    'rejects %s and names the accepted range',
    async (query) => {
      const answer = await scenario.app.inject({ url: `${listUrl}?${query}`, headers: key })
      expect(answer.statusCode).toBe(400)
      const message = query.startsWith('page')
        ? 'page must be a whole number from 1'
        : 'limit must be a whole number from 1 to 500'
      expect(answer.json().message).toBe(message)
    },
  )

  test('streams thousands of exchanges as one valid document (B115)', async () => {
    await insertExchanges(3_000)
    const answer = await scenario.app.inject({ url: listUrl, headers: key })
    expect(answer.headers['content-length']).toBeUndefined()
    expect(answer.json().data.length).toBe(3_000)
  })

  test('reads no rows beyond full buffers, and stops when the client disconnects', async () => {
    const view = await createExchange()
    let read = 0
    let isClosed = false
    const endlessRows = (async function* () {
      try {
        for (;;) {
          read += 1
          yield view
        }
      } finally {
        isClosed = true
      }
    })()
    Object.assign(scenario.services, { listExchanges: async () => ({ total: 1, rows: endlessRows }) })
    const socket = connect(await listen(scenario.app), '127.0.0.1')
    await once(socket, 'connect')
    socket.pause()
    socket.write(`GET ${listUrl} HTTP/1.1\r\nHost: x\r\nx-api-key: sandbox\r\n\r\n`)
    // Reading stops when the buffers of the paused socket are full.
    let previous = -1
    await vi.waitUntil(
      () => {
        const hasStopped = read > 0 && read === previous
        previous = read
        return hasStopped
      },
      { ...PATIENCE, interval: 200 },
    )
    expect(read).toBeLessThan(200_000)
    socket.destroy()
    await vi.waitUntil(() => isClosed, PATIENCE)
  })

  test('closes the connection if reading fails after the first rows; the response is never complete', async () => {
    const view = await createExchange()
    const failingRows = (async function* () {
      for (let index = 0; index < 200; index += 1) yield view
      throw new Error('the connection to the database was lost')
    })()
    Object.assign(scenario.services, { listExchanges: async () => ({ total: 300, rows: failingRows }) })
    const url = `http://127.0.0.1:${await listen(scenario.app)}${listUrl}`
    const answer = await fetch(url, { headers: key })
    await expect(answer.text()).rejects.toThrow()
  })

  test('responds with 500 if reading fails before the first row', async () => {
    // biome-ignore lint/correctness/useYield: it throws before the first row.
    const failingRows = (async function* (): AsyncGenerator<ExchangeView> {
      throw new Error('the connection to the database was lost')
    })()
    Object.assign(scenario.services, { listExchanges: async () => ({ total: 1, rows: failingRows }) })
    const answer = await scenario.app.inject({ url: listUrl, headers: key })
    expect([answer.statusCode, answer.json().code]).toEqual([500, 'INTERNAL'])
  })
})
