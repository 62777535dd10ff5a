import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { PATIENCE_MS } from '../../../../test/support/patience.ts'
import { createHttp } from '../../lib/http.ts'
import { createExchangeSource } from './exchange-source.ts'
import { type ExchangeId, exchangeIds, exchanges } from './exchanges/index.ts'
import { RECORDED_AT, replies } from './exchanges/replies.fixture.ts'
import type { SourcePrice } from './price-source.ts'

type Reply = Readonly<{ status?: number; headers?: Readonly<Record<string, string>>; body?: string | Buffer }>

const http = createHttp()
let server: Server | null = null
let requests: IncomingHttpHeaders[] = []

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = null
  requests = []
})
afterAll(() => http.close())

/** A server that gives `answer()` to each request; null: it does not answer. `fail` and `pass` change the time. */
async function serve(answer: () => Reply | null): Promise<string> {
  server = createServer((request, response: ServerResponse) => {
    requests.push(request.headers)
    const reply = answer()
    if (reply !== null) response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '')
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices`
}

/** The source of an exchange at a local server, and a clock that the test moves. */
async function openSource(id: ExchangeId, answer: () => Reply | null, headers = {}, graceMs = PATIENCE_MS) {
  const clock = { now: RECORDED_AT }
  const url = await serve(answer)
  const source = createExchangeSource(id, exchanges[id], { http, now: () => clock.now, url, headers, graceMs })
  return { source, clock }
}

const units = (dollars: string): bigint => {
  const [whole = '', fraction = ''] = dollars.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
const priceOf = (
  priceKey: string,
  quoteCurrency: 'usd' | 'usdt',
  at: number,
  bid: string,
  ask: string,
): SourcePrice => ({
  ...{ priceKey, quoteCurrency, at },
  price: { bid: units(bid), ask: units(ask) },
})
const causeOf = async (read: Promise<unknown>): Promise<string> => {
  const error = await read.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown as Error,
  )
  expect(error).toMatchObject({ code: 'RATES_UNAVAILABLE' })
  return (error.cause as Error).message
}

const expected: Readonly<Record<ExchangeId, readonly SourcePrice[]>> = {
  kraken: [
    priceOf('btc', 'usd', RECORDED_AT, '65231.9', '65232'),
    priceOf('eth', 'usd', RECORDED_AT, '1965.4', '1965.6'),
    priceOf('doge', 'usd', RECORDED_AT, '0.07263', '0.07264'),
    priceOf('usdt', 'usd', RECORDED_AT, '0.999', '0.9991'),
    priceOf('wbtc', 'usd', RECORDED_AT, '64950', '64970'),
    priceOf('pepe', 'usd', RECORDED_AT, '0.000004018', '0.000004021'),
  ],
  bitstamp: [
    priceOf('btc', 'usd', 1_785_145_937_000, '65236', '65237'),
    priceOf('usdc', 'usd', 1_785_145_937_000, '0.9999', '0.99992'),
  ],
  bitfinex: [
    priceOf('btc', 'usd', RECORDED_AT, '101530', '101540'),
    priceOf('usdt', 'usd', RECORDED_AT, '0.99915', '0.99931'),
    priceOf('shib', 'usd', RECORDED_AT, '0.000012051', '0.000012089'),
    priceOf('pepe', 'usd', RECORDED_AT, '0.000000987', '0.000000989'),
  ],
  binance: [
    priceOf('btc', 'usdt', RECORDED_AT, '33327.43', '33327.44'),
    priceOf('pepe', 'usdt', RECORDED_AT, '0.00000402', '0.00000403'),
  ],
  okx: [priceOf('btc', 'usdt', 1_785_145_938_264, '65304', '65305')],
  kucoin: [priceOf('eth', 'usdt', 1_785_143_386_586, '1958.49', '1958.5')],
}

describe.each(exchangeIds)('the adapter of %s', (id) => {
  test('T54: reads a recorded reply exactly; other pairs and missing ones are left out', async () => {
    const { source } = await openSource(id, () => ({ body: replies[id] }))
    expect(await source.read()).toEqual(expected[id])
  })

  test('reads a compressed reply', async () => {
    const { source } = await openSource(id, () => ({
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(replies[id]),
    }))
    expect(await source.read()).toEqual(expected[id])
    expect(requests[0]?.['accept-encoding']).toBe('gzip')
  })

  test.each([
    ['no JSON', '<html>'],
    ['a number', '7'],
    ['null', 'null'],
    ['text', '"down"'],
    ['an object of another form', '{"error":"maintenance"}'],
    ['the right envelope around the wrong content', '{"error":[],"result":7,"code":"0","data":7}'],
  ])('rejects %s', async (_, body) => {
    const { source } = await openSource(id, () => ({ body }))
    expect(await causeOf(source.read())).toMatch(/JSON|form|code/)
  })

  test('leaves out entries of another form, and keeps the others', async () => {
    const damaged = replies[id]
      .replace('[\n', '[7, null, [], {}, "x",\n')
      .replace('"result":{', '"result":{"XLTCZUSD":null,"SOLUSD":{"a":"1","b":{}},')
    const { source } = await openSource(id, () => ({ body: damaged }))
    expect(await source.read()).toEqual(expected[id])
  })

  test('rejects a reply above its bound, also one that exceeds it only when it is decompressed', async () => {
    const long = Buffer.alloc(exchanges[id].replyBytesMax + 1, ' ')
    const plain = await openSource(id, () => ({ body: long }))
    expect(await causeOf(plain.source.read())).toBe('the reply is too long')
    server?.close()
    const packed = await openSource(id, () => ({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(long) }))
    expect(await causeOf(packed.source.read())).toBe('the compressed reply is too long or damaged')
  })

  test('is asked once per interval', async () => {
    const { source, clock } = await openSource(id, () => ({ body: replies[id] }))
    await Promise.all([source.read(), source.read()])
    clock.now += exchanges[id].intervalMs - 1
    // The old time stays with the old price.
    expect(await source.read()).toEqual(expected[id])
    expect(requests).toHaveLength(1)
    clock.now += 1
    await source.read()
    expect(requests).toHaveLength(2)
  })
})

describe('an exchange', () => {
  test('is not asked before the time of its Retry-After, and then again', async () => {
    let reply: Reply = { status: 429, headers: { 'retry-after': '90' } }
    const { source, clock } = await openSource('binance', () => reply)
    expect(await causeOf(source.read())).toBe('status 429')
    reply = { body: replies.binance }
    clock.now += 89_999
    expect(await causeOf(source.read())).toBe('status 429')
    expect(requests).toHaveLength(1)
    clock.now += 1
    expect(await source.read()).toHaveLength(2)
  })

  test('is not asked for a minute if it states no time, and until a date if it states one', async () => {
    let reply: Reply = { status: 418 }
    const { source, clock } = await openSource('binance', () => reply)
    expect(await causeOf(source.read())).toBe('status 418')
    clock.now += 59_999
    await causeOf(source.read())
    expect(requests).toHaveLength(1)
    clock.now += 1
    reply = { status: 429, headers: { 'retry-after': new Date(clock.now + 120_000).toUTCString() } }
    await causeOf(source.read())
    expect(requests).toHaveLength(2)
    clock.now += 118_000
    await causeOf(source.read())
    expect(requests).toHaveLength(2)
    clock.now += 2_000
    await causeOf(source.read())
    expect(requests).toHaveLength(3)
  })

  test.each([
    ['EAPI:Rate limit exceeded', 60_000],
    ['EGeneral:Temporary lockout', 60_000],
    ['EService: Throttled: 1785145999', 60_000],
    ['EQuery:Unknown asset pair', 3_000],
    ['EService:Unavailable', 3_000],
  ])('that answers 200 with the error %s is asked again after %i ms', async (error, waitMs) => {
    const { source, clock } = await openSource('kraken', () => ({ body: JSON.stringify({ error: [error] }) }))
    expect(await causeOf(source.read())).toBe(error)
    clock.now += waitMs - 1
    expect(await causeOf(source.read())).toBe(error)
    expect(requests).toHaveLength(1)
    clock.now += 1
    await causeOf(source.read())
    expect(requests).toHaveLength(2)
  })

  test('that states an error in its body is refused', async () => {
    const bitfinex = await openSource('bitfinex', () => ({ body: '["error",20060,"maintenance"]' }))
    expect(await causeOf(bitfinex.source.read())).toBe('error 20060 maintenance')
    server?.close()
    const okx = await openSource('okx', () => ({ body: '{"code":"50011","msg":"Too Many Requests","data":[]}' }))
    expect(await causeOf(okx.source.read())).toContain('50011')
  })

  test('that fails is asked less often each time, up to every 30 seconds', async () => {
    const { source, clock } = await openSource('bitstamp', () => ({ status: 502, body: 'Bad\u0007 gateway' }))
    expect(await causeOf(source.read())).toBe('status 502: Bad  gateway')
    for (const waitMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const before = requests.length
      clock.now += waitMs - 1
      await causeOf(source.read())
      expect(requests).toHaveLength(before)
      clock.now += 1
      await causeOf(source.read())
      expect(requests).toHaveLength(before + 1)
    }
  })

  test('that does not answer again delays no read: its last prices keep their time', async () => {
    let isSilent = false
    const { source, clock } = await openSource('kraken', () => (isSilent ? null : { body: replies.kraken }), {}, 100)
    await source.read()
    isSilent = true
    clock.now += 5_000
    expect(await source.read()).toEqual(expected.kraken)
  })

  test('that closes the connection is refused', async () => {
    const { source } = await openSource('kraken', () => ({ body: replies.kraken }))
    server?.close()
    expect(await causeOf(source.read())).toMatch(/refused|closed|unreachable|connect/i)
  })

  test('has its bid rounded down and its ask up, beyond twelve decimals', async () => {
    const body = '[{"symbol":"PEPEUSDT","bidPrice":"0.00000402000019","askPrice":"0.00000402000021"}]'
    const { source } = await openSource('binance', () => ({ body }))
    expect(await source.read()).toEqual([priceOf('pepe', 'usdt', RECORDED_AT, '0.00000402', '0.000004020001')])
  })

  test('that states no time has prices of the time before the request', async () => {
    const { source, clock } = await openSource('kraken', () => {
      clock.now += 3_000
      return { body: replies.kraken }
    })
    expect(await source.read()).toEqual(expected.kraken)
  })

  test('gets the headers of its mirror', async () => {
    const { source } = await openSource('kraken', () => ({ body: replies.kraken }), { 'x-api-key': 'k-1' })
    await source.read()
    expect(requests[0]?.['x-api-key']).toBe('k-1')
  })

  test('does not repeat the key that its mirror returns in an error', async () => {
    const { source } = await openSource('kraken', () => ({ status: 403, body: 'unknown key k-1' }), {
      'x-api-key': 'k-1',
    })
    expect(await causeOf(source.read())).toBe('status 403: unknown key [secret]')
  })

  test('has no price of a perpetual future in place of the spot market', async () => {
    const future = { pair: 'BTC/USD', market: 'BTC/USD-PERP', market_type: 'PERPETUAL', timestamp: '1785145937' }
    const body = replies.bitstamp.replace('[', `[${JSON.stringify({ ...future, bid: '1', ask: '2' })},`)
    const after = body.replace(/\]\s*$/, `,${JSON.stringify({ ...future, bid: '3', ask: '4' })}]`)
    const { source } = await openSource('bitstamp', () => ({ body: after }))
    expect(await source.read()).toEqual(expected.bitstamp)
  })
})
