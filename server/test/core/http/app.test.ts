import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLog } from '../../../src/lib/log.ts'
import { createTestApp, goodOrder, goodRate, type TestApp } from './app-for-tests.ts'

const key = { 'x-api-key': 'sandbox' }
const rateUrl = `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`
const exchangeUrl = '/v1/cross-chain/exchange'
let scenario: TestApp

beforeEach(() => {
  scenario = createTestApp({ operatorToken: 'operator-token' })
})
afterEach(() => scenario.app.close())

async function sendCreate(headers: Record<string, string> = key, change: object = {}) {
  return scenario.app.inject({ method: 'POST', url: exchangeUrl, headers, payload: { ...goodOrder, ...change } })
}

describe('quotes', () => {
  test('return the fields of the specification in its types, and additional fields', async () => {
    const answer = await scenario.app.inject({ url: rateUrl, headers: key })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      min: 0.00015625,
      max: 1.5625,
      fromAmount: 0.01,
      toAmount: 633.6,
      fromCurrency: 'btc',
      toCurrency: 'usdt',
      fromNetwork: 'btc',
      toNetwork: 'eth',
      amountFromUsd: '640',
      amountToUsd: '633.6',
      rateId: expect.any(String),
      validUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      fees: { service: '6.4', partner: '0', network: '0', payout: '0' },
      minTo: 9.9,
      maxTo: 99000,
    })
  })

  test('default to an amount of 1 at the floating rate', async () => {
    const { amount: _amount, ...pair } = goodRate
    const answer = await scenario.app.inject({ url: `/v1/cross-chain/rate?${new URLSearchParams(pair)}`, headers: key })
    expect(answer.json().fromAmount).toBe(1)
  })

  test('accept tickers in any case, and aliases', async () => {
    const query = new URLSearchParams({ ...goodRate, fromCurrency: 'BTC', fromNetwork: 'Bitcoin', toNetwork: 'ERC20' })
    const answer = await scenario.app.inject({ url: `/v1/cross-chain/rate?${query}`, headers: key })
    expect(answer.json()).toMatchObject({ fromCurrency: 'btc', fromNetwork: 'btc', toNetwork: 'eth' })
  })
})

describe('query validation', () => {
  test('reports each invalid parameter once, with the reason', async () => {
    const answer = await scenario.app.inject({
      url: '/v1/cross-chain/rate?fromCurrency[]=btc&fromNetwork=btc&toNetwork=',
      headers: key,
    })
    expect(
      answer.json().errors.map(({ field, message }: { field: string; message: string }) => [field, message]),
    ).toEqual([
      ['fromCurrency', 'fromCurrency must be given once, as plain text'],
      ['toCurrency', 'toCurrency is required'],
      ['toNetwork', 'toNetwork must not be empty'],
    ])
  })
})

describe('creates', () => {
  test('return 201 with exactly the members of the specification and its additive fields', async () => {
    const answer = await sendCreate(key, { refundAddress: `bcrt1${'q'.repeat(38)}` })
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toEqual({
      id: expect.any(String),
      created: expect.any(String),
      exchangeType: 'standard',
      status: 'pending',
      request: {
        fromCurrency: 'btc',
        fromNetwork: 'btc',
        toCurrency: 'usdt',
        toNetwork: 'eth',
        amountFromRequested: '0.01',
        amountToRequested: '633.6',
        depositAddress: 'deposit-btc-1',
        recipientAddress: goodOrder.address,
        flow: 'standard',
      },
      exchanges: [],
      expiresAt: expect.any(String),
      fixedUntil: null,
      confirmationsRequired: 2,
      confirmationsSeen: 0,
      expectedSeconds: 1_800,
      externalId: null,
      trackingUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/track\/[A-Za-z0-9_-]{43}$/),
    })
  })

  test('return the deposit memo if the network requires one', async () => {
    const answer = await sendCreate(key, { fromCurrency: 'xrp', fromNetwork: 'xrp', fromAmount: '100' })
    expect(answer.json().request).toMatchObject({ depositAddress: 'deposit-xrp-1', depositMemo: '1' })
  })

  test('return the same bytes for the same key and body, even if the exchange has changed', async () => {
    const headers = { ...key, 'idempotency-key': 'one' }
    const first = await sendCreate(headers)
    const [row] = scenario.services.rows
    if (row) row.view = { ...row.view, exchange: { ...row.view.exchange, status: 'finished' } }
    expect((await sendCreate(headers)).body).toBe(first.body)
    // Ignored members and the order of members make no difference.
    const reordered = Object.fromEntries(Object.entries({ ...goodOrder, unknown: 1 }).toReversed())
    const again = await scenario.app.inject({ method: 'POST', url: exchangeUrl, headers, payload: reordered })
    expect(again.body).toBe(first.body)
    expect(scenario.services.rows.length).toBe(1)
  })

  test.each([
    ['an amount in another format', { fromAmount: '0.010' }, 409],
    ['a ticker in another case', { fromCurrency: 'BTC' }, 409],
    ['an additional member', { refundAddress: `bcrt1${'q'.repeat(38)}` }, 409],
    ['an ignored member', { colour: 'red' }, 201],
  ])('compare the body under the same key: %s', async (_, change, status) => {
    const headers = { ...key, 'idempotency-key': 'same' }
    const first = await sendCreate(headers)
    const again = await sendCreate(headers, change)
    expect(again.statusCode).toBe(status)
    if (status === 201) expect(again.body).toBe(first.body)
    else expect(again.json().code).toBe('IDEMPOTENCY_CONFLICT')
    // Query, headers, white space and escapes are not compared.
    const escaped = JSON.stringify(goodOrder, null, 2).replace('btc', '\\u0062tc')
    const elsewhere = { ...headers, 'x-other': 'header', 'content-type': 'application/json' }
    const third = await scenario.app.inject({
      method: 'POST',
      url: `${exchangeUrl}?x=1`,
      headers: elsewhere,
      payload: escaped,
    })
    expect(third.body).toBe(first.body)
  })

  test('store no refusal under the key', async () => {
    const headers = { ...key, 'idempotency-key': 'free' }
    expect((await sendCreate(headers, { fromAmount: '900000' })).statusCode).toBe(422)
    expect((await sendCreate(headers)).statusCode).toBe(201)
  })

  test('list all problems at once, including unknown members from a strict partner', async () => {
    const headers = { 'x-api-key': 'strict', 'content-type': 'application/json' }
    const payload = { ...goodOrder, fromCurrency: 7, fromAmount: '-1', flow: 'fixed', colour: 'red' }
    const answer = await scenario.app.inject({ method: 'POST', url: exchangeUrl, headers, payload })
    expect(answer.statusCode).toBe(400)
    const problems = answer.json().errors.map(({ code, field }: { code: string; field: string }) => `${code} ${field}`)
    expect(problems.toSorted()).toEqual([
      'AMOUNT_MALFORMED fromAmount',
      'VALIDATION_ERROR colour',
      'VALIDATION_ERROR flow',
      'VALIDATION_ERROR fromCurrency',
    ])
  })
})

describe('content type of a create', () => {
  const sendWithContentType = async (contentType: string) => {
    const headers = { ...key, 'content-type': contentType }
    const answer = await scenario.app.inject({
      method: 'POST',
      url: exchangeUrl,
      headers,
      payload: JSON.stringify(goodOrder),
    })
    return [answer.statusCode, answer.json().code]
  }

  test.each([
    'application/json',
    'application/json;charset=utf-8',
    'Application/JSON; Charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=us-ascii',
  ])('accepts %s', async (contentType) => {
    expect(await sendWithContentType(contentType)).toEqual([201, undefined])
  })

  test.each([
    'application/json; charset=utf-16',
    'application/json;charset="UTF-16LE"',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-7',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset=',
  ])('rejects %s', async (contentType) => {
    expect(await sendWithContentType(contentType)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })
})

describe('status', () => {
  test('returns the type and the full request', async () => {
    const { id } = (await sendCreate()).json()
    const answer = await scenario.app.inject({ url: `${exchangeUrl}/status?id=${id}`, headers: key })
    expect(answer.json()).toMatchObject({
      type: 'standard',
      exchange: {
        id,
        statusReason: null,
        exchanges: [],
        request: { depositMemo: null, recipientMemo: null, refundAddress: null, refundMemo: null, flow: 'standard' },
      },
    })
  })

  test('returns 304 for the current ETag, and 200 after a change', async () => {
    const { id } = (await sendCreate()).json()
    const url = `${exchangeUrl}/status/standard?id=${id}`
    const first = await scenario.app.inject({ url, headers: key })
    const headers = { ...key, 'if-none-match': String(first.headers.etag) }
    const second = await scenario.app.inject({ url, headers })
    expect([second.statusCode, second.body]).toEqual([304, ''])
    const [row] = scenario.services.rows
    if (row) row.view = { ...row.view, exchange: { ...row.view.exchange, status: 'confirming' } }
    expect((await scenario.app.inject({ url, headers })).statusCode).toBe(200)
  })

  test('shows no deposit address without the memo that its network requires (I-33)', async () => {
    const { id } = (await sendCreate(key, { fromCurrency: 'xrp', fromNetwork: 'xrp', fromAmount: '100' })).json()
    const [row] = scenario.services.rows
    if (row) row.view = { ...row.view, exchange: { ...row.view.exchange, deposit: { address: 'r', memo: null } } }
    const answer = await scenario.app.inject({ url: `${exchangeUrl}/status?id=${id}`, headers: key })
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('deposit')
  })
})

describe('internal errors', () => {
  test('return only the request id, and log the cause', async () => {
    scenario.services.broken.find = new Error('select * from secrets failed on 10.0.0.1')
    const answer = await scenario.app.inject({ url: `${exchangeUrl}/status?id=x`, headers: key })
    const { requestId } = answer.json()
    expect(answer.json()).toEqual({
      message: `unexpected failure in request ${requestId}`,
      error: 'Internal Server Error',
      statusCode: 500,
      code: 'INTERNAL',
      requestId,
      errors: [{ code: 'INTERNAL' }],
    })
    expect(scenario.lines).toMatchObject([
      { level: 'error', fields: { requestId, err: scenario.services.broken.find } },
    ])
  })
})

describe('errors in a handler', () => {
  const cause = new RangeError('there is no third leg')
  const wrong = { legs: undefined } as unknown as { legs: string[] }
  test.each<[string, string, () => unknown]>([
    ['TypeError', 'Cannot read properties of undefined', () => wrong.legs.length],
    [
      'ReferenceError',
      'rates is not defined',
      () => {
        throw new ReferenceError('rates is not defined', { cause })
      },
    ],
    ['Error', 'rejected', () => Promise.reject(new Error('rejected', { cause }))],
  ])('%s returns 500 without details, and logs stack and cause', async (type, message, handler) => {
    const lines: string[] = []
    const log = createLog({ level: 'info', pretty: false, destination: { write: (line) => void lines.push(line) } })
    const { app } = createTestApp({}, log)
    app.get('/mistaken', handler)
    const answer = await app.inject({ url: '/mistaken' })
    const { requestId } = answer.json()
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([500, 'application/json; charset=utf-8'])
    expect(answer.json()).toEqual({
      message: `unexpected failure in request ${requestId}`,
      error: 'Internal Server Error',
      statusCode: 500,
      code: 'INTERNAL',
      requestId,
      errors: [{ code: 'INTERNAL' }],
    })
    expect(lines).toHaveLength(1)
    const { level, status, err } = JSON.parse(lines[0] ?? '')
    expect([level, status, err.type]).toEqual(['error', 500, type])
    expect(err.message).toContain(message)
    expect(err.stack).toMatch(/app\.test\.ts:\d+/)
    if (type !== 'TypeError')
      expect(err.cause).toMatchObject({
        type: 'RangeError',
        message: cause.message,
        stack: expect.stringContaining('    at '),
      })
    await app.close()
  })
})

describe('request log', () => {
  test('has one line and one observation per request, without query and key', async () => {
    await scenario.app.inject({ url: `${rateUrl}&secret=1`, headers: key })
    await scenario.app.inject({ url: '/nowhere?x-api-key=sandbox' })
    expect(scenario.lines).toMatchObject([
      { message: 'request answered', fields: { path: '/v1/cross-chain/rate', status: 200, partnerId: 'p1' } },
      { message: 'request answered', fields: { path: '/nowhere', status: 404, code: 'ROUTE_NOT_FOUND' } },
    ])
    expect(JSON.stringify(scenario.lines)).not.toMatch(/secret|sandbox/)
    expect(scenario.observed).toEqual([
      { route: '/v1/cross-chain/rate', method: 'GET', status: 200 },
      { route: 'unmatched', method: 'GET', status: 404 },
    ])
  })

  test('has a request id that the header and the error return', async () => {
    const [first, second] = await Promise.all([1, 2].map(() => scenario.app.inject({ url: '/nowhere' })))
    expect(first?.headers['x-request-id']).toBe(first?.json().requestId)
    expect(first?.headers['x-request-id']).not.toBe(second?.headers['x-request-id'])
  })
})

describe('metrics', () => {
  test('are served to loopback, and to the operator with the token', async () => {
    const fetchMetrics = (remoteAddress: string, headers = {}) =>
      scenario.app.inject({ url: '/metrics', remoteAddress, headers })
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
      expect((await fetchMetrics(address)).statusCode).toBe(200)
    expect((await fetchMetrics('192.0.2.1')).statusCode).toBe(403)
    expect((await fetchMetrics('192.0.2.1', { 'x-forwarded-for': '127.0.0.1' })).statusCode).toBe(403)
    expect((await fetchMetrics('192.0.2.1', { authorization: 'Bearer wrong' })).statusCode).toBe(403)
    expect((await fetchMetrics('192.0.2.1', { authorization: 'Bearer operator-token' })).statusCode).toBe(200)
  })

  test.each([
    { 'x-forwarded-for': '198.51.100.7' },
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=198.51.100.7' },
    { 'x-real-ip': '198.51.100.7' },
    { via: '1.1 front' },
  ])('are refused to requests through a local proxy: %j', async (proxyHeaders) => {
    const fetchMetrics = async (headers = {}) =>
      (await scenario.app.inject({ url: '/metrics', headers: { ...proxyHeaders, ...headers } })).statusCode
    expect(await fetchMetrics()).toBe(403)
    expect(await fetchMetrics({ authorization: 'Bearer wrong' })).toBe(403)
    expect(await fetchMetrics({ authorization: 'operator-token' })).toBe(403)
    expect(await fetchMetrics({ authorization: 'Bearer operator-token' })).toBe(200)
    const trustingApp = createTestApp({ trustedProxies: 1 })
    expect((await trustingApp.app.inject({ url: '/metrics', headers: proxyHeaders })).statusCode).toBe(403)
    await trustingApp.app.close()
  })

  test('are refused to every token if none is set', async () => {
    const { app } = createTestApp({ operatorToken: null })
    const fetchMetrics = async (headers = {}) =>
      (await app.inject({ url: '/metrics', remoteAddress: '192.0.2.1', headers })).statusCode
    for (const authorization of ['Bearer null', 'Bearer ', 'Bearer undefined'])
      expect(await fetchMetrics({ authorization })).toBe(403)
    await app.close()
  })
})

describe('documentation and icons', () => {
  test('loads the reference from this server only', async () => {
    const page = await scenario.app.inject({ url: '/docs/reference' })
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link))
    const loaded = links.filter((link) => /\.(?:css|js)$/.test(link))
    expect(loaded.length).toBe(4)
    for (const link of loaded) {
      expect(link.startsWith('/docs/')).toBe(true)
      expect((await scenario.app.inject({ url: link })).statusCode).toBe(200)
    }
    expect(links.filter((link) => !link.startsWith('/'))).toEqual([])
    expect(page.body).not.toMatch(/<script>|https?:\/\//)
  })

  test('serves icons of listed currencies only', async () => {
    const icon = await scenario.app.inject({ url: '/icons/usdt.svg' })
    expect([icon.statusCode, icon.headers['content-type']]).toEqual([200, 'image/svg+xml'])
    for (const name of ['zec.svg', '..%2f..%2fpackage.json', '%2e%2e', 'usdt', 'constructor']) {
      expect((await scenario.app.inject({ url: `/icons/${name}` })).statusCode).toBe(404)
    }
  })

  test('answers HEAD on GET routes with the same length and no body', async () => {
    for (const url of [
      '/icons/usdt.svg',
      '/icons/tokens/usdc.svg',
      '/v1/defi/available-currencies?network=eth',
      '/docs/reference',
    ]) {
      const [get, head] = await Promise.all(
        (['GET', 'HEAD'] as const).map((method) => scenario.app.inject({ method, url, headers: key })),
      )
      expect([url, get?.statusCode, head?.statusCode, head?.body]).toEqual([url, 200, 200, ''])
      expect(head?.headers['content-length']).toBe(get?.headers['content-length'])
    }
    const missing = await scenario.app.inject({ method: 'HEAD', url: '/icons/zec.svg' })
    expect(missing.statusCode).toBe(404)
  })

  test('serves the image of every currency', async () => {
    const listed = await scenario.app.inject({ url: '/v1/cross-chain/available-currencies', headers: key })
    for (const { image } of listed.json())
      expect((await scenario.app.inject({ url: new URL(image).pathname })).statusCode).toBe(200)
  })
})
