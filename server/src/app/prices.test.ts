import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Config } from '../config/load.ts'
import type { PriceSourceConfig } from '../config/prices.ts'
import { openPrices, reportDropped } from './prices.ts'

const SECRET = 'canary-5e6f7a8b9c0d'
const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A local server in place of each source; the reply of each path. */
async function serve(replies: Readonly<Record<string, () => [status: number, body: string]>>) {
  const headers: Record<string, unknown> = {}
  const server: Server = createServer((request, response) => {
    headers[request.url ?? ''] = request.headers.authorization
    const [status, body] = replies[request.url ?? '']?.() ?? [404, '']
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, headers }
}

function open(sources: readonly PriceSourceConfig[], quorum = 2) {
  const logged: string[] = []
  const counted: string[] = []
  const config = { environment: 'production', prices: { sources, quorum }, sandbox: { still: false, networks: null } }
  const prices = openPrices(config as unknown as Config, {
    chains: null,
    log: { warn: (fields, message) => logged.push(`${message} ${JSON.stringify(fields)}`) },
    metrics: { priceDropped: (source, reason) => counted.push(`${source} ${reason}`) },
    closers,
  })
  return { prices, logged, counted }
}

const dollars = (cents: bigint): bigint => cents * 10n ** 10n
const kraken = `{"error":[],"result":{
  "XXBTZUSD":{"a":["64010.00000","1","1.000"],"b":["64000.00000","1","1.000"]},
  "USDTZUSD":{"a":["0.99910000","1","1.000"],"b":["0.99900000","1","1.000"]}}}`
const bitstamp = () => {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  return JSON.stringify([
    { timestamp, bid: '63990', ask: '64000', pair: 'BTC/USD', market: 'BTC/USD', market_type: 'SPOT' },
    { timestamp, bid: '0.99890', ask: '0.99900', pair: 'USDT/USD', market: 'USDT/USD', market_type: 'SPOT' },
  ])
}
const binance =
  '[{"symbol":"BTCUSDT","bidPrice":"64080.00","askPrice":"64080.01"},{"symbol":"BNBUSDT","bidPrice":"600.00","askPrice":"600.01"}]'
const okx = () =>
  JSON.stringify({ code: '0', data: [{ instId: 'BNB-USDT', bidPx: '600.1', askPx: '600.2', ts: String(Date.now()) }] })

describe('T54: prices of public exchanges', () => {
  test('are combined with those in USDT, each through a mirror with a key', async () => {
    const { url, headers } = await serve({
      '/k': () => [200, kraken],
      '/s': () => [200, bitstamp()],
      '/b': () => [200, binance],
      '/o': () => [200, okx()],
    })
    const at = (exchange: 'kraken' | 'bitstamp' | 'binance' | 'okx', path: string): PriceSourceConfig => ({
      ...{ exchange, url: url(path) },
      headers: { authorization: `Bearer ${SECRET}` },
    })
    const { prices, logged } = open([at('kraken', '/k'), at('bitstamp', '/s'), at('binance', '/b'), at('okx', '/o')])
    const { usd } = await prices.read()
    expect([...usd.keys()].toSorted()).toEqual(['bnb', 'btc', 'usdt'])
    // The lowest bid is Bitstamp's; the highest ask is Binance's, 64 080.01 × 0.9991 = 64 022.337991.
    expect(usd.get('btc')).toEqual({ bid: dollars(6_399_000n), ask: 64_022_337_991_000_000n })
    // 600.00 × 0.9989 and 600.2 × 0.9991: the lowest bid and the highest ask of USDT.
    expect(usd.get('bnb')).toEqual({ bid: dollars(59_934n), ask: 599_659_820_000_000n })
    expect(Object.values(headers)).toEqual(Array.from({ length: 4 }, () => `Bearer ${SECRET}`))
    expect(logged.join('\n')).not.toContain(SECRET)
  })

  test('are left out pair by pair once they are ten seconds old', async () => {
    const seconds = (age: number) => String(Math.floor(Date.now() / 1_000) - age)
    const pair = (name: string, age: number) => ({
      pair: name,
      market: name,
      timestamp: seconds(age),
      bid: '90',
      ask: '91',
    })
    const { url } = await serve({ '/s': () => [200, JSON.stringify([pair('LTC/USD', 0), pair('SOL/USD', 11)])] })
    const { prices, logged } = open([{ exchange: 'bitstamp', url: url('/s'), headers: {} }], 1)
    expect([...(await prices.read()).usd.keys()]).toEqual(['ltc'])
    expect(logged).toContainEqual(expect.stringContaining('"source":"bitstamp","reason":"stale","priceKey":"sol"'))
  })

  test('tell the operator why a source was not counted, without its headers', async () => {
    const { url } = await serve({
      '/k': () => [200, '{"error":["EAPI:Rate limit exceeded"]}'],
      '/doc': () => [500, SECRET],
    })
    const headers = { authorization: SECRET }
    const { prices, logged, counted } = open([
      { exchange: 'kraken', url: url('/k'), headers },
      { exchange: null, url: url('/doc'), headers },
    ])
    await expect(prices.read()).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE' })
    await expect(prices.read()).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE' })
    expect(logged).toEqual([
      expect.stringMatching(/"source":"kraken","reason":"failed".*EAPI:Rate limit exceeded/),
      expect.stringMatching(/"source":"127\.0\.0\.1:\d+","reason":"failed".*status 500/),
    ])
    expect(counted).toHaveLength(4)
    expect(logged.join('\n')).not.toContain(SECRET)
  })
})

test('a drop is logged once a minute, a missing pair once a day, and every one is counted', () => {
  const logged: unknown[] = []
  let counted = 0
  const clock = { now: 0 }
  const report = reportDropped(
    {
      log: { warn: (fields) => logged.push(fields) },
      metrics: {
        priceDropped: () => {
          counted += 1
        },
      },
    },
    () => clock.now,
  )
  const deviating = { source: 'okx', reason: 'deviating', priceKey: 'btc' } as const
  const missing = { source: 'okx', reason: 'missing', priceKey: 'xmr' } as const
  for (const now of [0, 59_999, 60_000, 86_400_000]) {
    clock.now = now
    report(deviating)
    report(missing)
  }
  expect(logged).toEqual([deviating, missing, deviating, deviating, missing])
  expect(counted).toBe(8)
})
