import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createHttp } from '../../lib/http.ts'
import { createDocumentSource } from './document.ts'

const http = createHttp()
let server: Server | null = null
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())))

async function serve(status: number, body: string): Promise<string> {
  server = createServer((_request, response) => response.writeHead(status).end(body))
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('reads a price document exactly and omits malformed prices', async () => {
  const usd = {
    btc: { bid: '64000.1', ask: '64010' },
    eth: { bid: 3200, ask: 3201 },
    doge: { bid: '1e5', ask: '1' },
    shib: { bid: '0.000012345678', ask: '0.000012345679' },
    ltc: null,
  }
  const at = 1_790_000_000_000
  const source = createDocumentSource(await serve(200, JSON.stringify({ at, usd })), { http })
  expect(await source.read()).toEqual([
    {
      priceKey: 'btc',
      quoteCurrency: 'usd',
      at,
      price: { bid: 64_000_100_000_000_000n, ask: 64_010_000_000_000_000n },
    },
    { priceKey: 'shib', quoteCurrency: 'usd', at, price: { bid: 12_345_678n, ask: 12_345_679n } },
  ])
})

test.each([
  ['another status', 500, '{}'],
  ['no JSON', 200, '<html>'],
  ['another form', 200, '{"usd":{}}'],
  ['a list', 200, '[]'],
  ['a document without end', 200, `{"at":1,"usd":{"btc":"${'9'.repeat(300_000)}"}}`],
])('rejects %s', async (_name, status, body) => {
  const source = createDocumentSource(await serve(status, body), { http })
  await expect(source.read()).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE' })
})
