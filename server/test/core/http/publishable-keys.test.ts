import { type RouteDefinition, routes } from '@swapyard/schema'
import { afterEach, describe, expect, test } from 'vitest'
import { isOriginAllowed } from '../../../src/core/domain/partner.ts'
import type { Throttle } from '../../../src/core/ports/throttle.ts'
import { createTestApp, goodOrder, goodRate, type TestApp } from './app-for-tests.ts'
import { createCountingThrottle } from './counting-throttle.ts'

const apps: TestApp[] = []
afterEach(async () => {
  for (const { app } of apps.splice(0)) await app.close()
})
function startApp(throttle: Throttle | null = null, publicUrl = 'https://api.example') {
  const scenario = createTestApp({ throttle, publicUrl })
  apps.push(scenario)
  return scenario
}

const origin = 'https://wallet.example'
const page = { 'x-api-key': 'page', origin }
const exchange = '/v1/cross-chain/exchange'
const rate = `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`

/** How many quotes a page's visitor gets before the first refusal. */
const quoteUntilRefused =
  (app: TestApp['app']) =>
  async (remoteAddress: string): Promise<number> => {
    for (let quotes = 0; quotes < 100; quotes++) {
      const answer = await app.inject({ url: rate, headers: page, remoteAddress })
      if (answer.statusCode === 429) return quotes
    }
    throw new Error('never refused')
  }

describe('a publishable key', () => {
  test('quotes and creates for a page of its origin, which may read the answers and the public status', async () => {
    const { app } = startApp()
    const quote = await app.inject({ url: rate, headers: page })
    expect(quote.statusCode).toBe(200)
    expect(quote.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' })
    expect(quote.headers['access-control-expose-headers']?.toString().split(', ')).toEqual(
      expect.arrayContaining(['RateLimit', 'Retry-After', 'X-Request-Id', 'ETag', 'Link', 'X-Total-Count']),
    )
    expect(quote.headers).not.toHaveProperty('access-control-allow-credentials')
    const created = await app.inject({ method: 'POST', url: exchange, headers: page, payload: goodOrder })
    expect([created.statusCode, created.headers['access-control-allow-origin']]).toEqual([201, origin])
    const token = new URL(created.json().trackingUrl).pathname.split('/').at(-1)
    const status = await app.inject({ url: `/v1/track?token=${token}`, headers: { origin } })
    expect([status.statusCode, status.json().id, status.headers['access-control-allow-origin']]).toEqual([
      200,
      created.json().id,
      '*',
    ])
    for (const url of ['/v1/cross-chain/available-currencies', '/v1/cross-chain/pairs'])
      expect((await app.inject({ url, headers: page })).statusCode).toBe(200)
    // A page may read why it was refused.
    const wrong = await app.inject({ url: `${rate}&flow=fast`, headers: page })
    expect([wrong.statusCode, wrong.headers['access-control-allow-origin']]).toEqual([400, origin])
  })

  // `SCREENING`, `externalId` and the payment between the legs of a private exchange are for the partner, not for the page's visitors.
  test('opens nothing else: no status of the partner, no list, no report, no balance, no change', async () => {
    const { app } = startApp()
    const reads = [
      `${exchange}/list`,
      ...['', '/standard', '/private'].map((kind) => `${exchange}/status${kind}?id=x`),
      `${exchange}/status?ids=x,y`,
      '/v1/partner/balances',
      '/v1/partner/usage',
      '/v1/partner/exchanges',
      '/v1/defi/networks',
    ]
    const posts = [
      `${exchange}/cancel`,
      `${exchange}/refund-address`,
      '/v1/defi/send/swap',
      '/v1/defi/transaction/swap',
    ]
    const answers = [
      ...(await Promise.all(reads.map((url) => app.inject({ url, headers: page })))),
      ...(await Promise.all(
        posts.map((url) => app.inject({ method: 'POST', url, headers: page, payload: { id: 'x' } })),
      )),
    ]
    expect(answers.map((answer) => [answer.statusCode, answer.json().code])).toEqual(
      [...reads, ...posts].map(() => [403, 'SCOPE_REQUIRED']),
    )
    const scopeOf = (path: string) =>
      Object.values<RouteDefinition>(routes).find((route) => route.path === path)?.access
    expect(answers.map((answer) => answer.json().errors[0].scope)).toEqual(
      [...reads, ...posts].map((url) => scopeOf(url.split('?')[0] ?? '')),
    )
    // Of the usage, for which any secret key is enough.
    expect(answers.map((answer) => answer.json().errors[0].scope)).toContain('any')
  })

  test('is refused from another origin, and without one, and that page may read nothing', async () => {
    const { app } = startApp()
    for (const other of [
      undefined,
      'https://wallet.example.evil.example',
      'http://wallet.example',
      'https://wallet.example:8443',
      'null',
    ]) {
      const headers = { 'x-api-key': 'page', ...(other === undefined ? {} : { origin: other }) }
      const answer = await app.inject({ url: rate, headers })
      expect([other, answer.statusCode, answer.json().code]).toEqual([other, 403, 'ORIGIN_NOT_ALLOWED'])
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
      expect(answer.headers.vary).toBe('Origin')
    }
  })

  test('works on pages of the origin of the API, where browsers send no Origin with a GET', async () => {
    const codeOf = async (publicUrl: string, headers: Record<string, string>) => {
      const { app } = startApp(null, publicUrl)
      const answer = await app.inject({ url: rate, headers: { 'x-api-key': 'page', ...headers } })
      return answer.statusCode === 200 ? 'OK' : answer.json().code
    }
    const own = `${origin}/api`
    expect(await codeOf(own, { 'sec-fetch-site': 'same-origin' })).toBe('OK')
    for (const site of ['same-site', 'cross-site', 'none'])
      expect(await codeOf(own, { 'sec-fetch-site': site })).toBe('ORIGIN_NOT_ALLOWED')
    expect(await codeOf(own, {})).toBe('ORIGIN_NOT_ALLOWED')
    // The key is not for pages of this API, whatever its host is called in the request, and an Origin counts first.
    const host = { host: 'wallet.example', 'sec-fetch-site': 'same-origin' }
    expect(await codeOf('https://api.example', host)).toBe('ORIGIN_NOT_ALLOWED')
    expect(await codeOf(own, { ...host, origin: 'https://evil.example' })).toBe('ORIGIN_NOT_ALLOWED')
  })

  test('has preflights on its routes alone; a secret key gets no CORS headers', async () => {
    const { app } = startApp()
    const preflight = (url: string, headers: Record<string, string> = {}) =>
      app.inject({
        method: 'OPTIONS',
        url,
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-api-key',
          ...headers,
        },
      })
    const allowed = await preflight(exchange)
    expect([allowed.statusCode, allowed.body]).toEqual([204, ''])
    expect(allowed.headers).toMatchObject({
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': 'content-type, idempotency-key, if-none-match, x-api-key',
      vary: 'Origin',
    })
    // A client sends its key with every call, and an ETag that it has.
    for (const path of ['/v1/track', '/v1/cross-chain/rate'])
      expect([path, (await preflight(path)).statusCode]).toEqual([path, 204])
    expect((await preflight(`${exchange}/list`)).statusCode).toBe(405)
    expect((await preflight('/v1/nowhere')).statusCode).toBe(404)
    // No preflight: a plain OPTIONS is a wrong method, as before.
    expect((await app.inject({ method: 'OPTIONS', url: exchange })).statusCode).toBe(405)
    const secret = await app.inject({ url: rate, headers: { 'x-api-key': 'sandbox', origin } })
    expect(secret.statusCode).toBe(200)
    expect(secret.headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('has Idempotency-Keys of its own: a page neither reads nor blocks those of the partner', async () => {
    const { app } = startApp()
    const key = { 'idempotency-key': 'order-1' }
    const create = (headers: Record<string, string>, payload: object = goodOrder) =>
      app.inject({ method: 'POST', url: exchange, headers: { ...headers, ...key }, payload })
    const ofServer = (await create({ 'x-api-key': 'sandbox' })).json()
    const ofPage = (await create(page)).json()
    expect(ofPage.id).not.toBe(ofServer.id)
    expect((await create(page)).json().id).toBe(ofPage.id)
    expect((await create({ 'x-api-key': 'sandbox' }, { ...goodOrder, fromAmount: '0.02' })).statusCode).toBe(409)
    expect((await create({ 'x-api-key': 'sandbox' })).json().id).toBe(ofServer.id)
  })

  test('has limits of its own, by client address and by key, apart from those of the partner', async () => {
    const { throttle, limits } = createCountingThrottle()
    const { app } = startApp(throttle)
    const quotesOf = quoteUntilRefused(app)
    // A client: a create and ten quotes. All pages together: a quarter of the partner's 600, which is 30 quotes.
    expect(await quotesOf('192.0.2.7')).toBe(20)
    expect(await quotesOf('192.0.2.8')).toBe(10)
    expect([...limits]).toEqual([
      ['page:key-of-p1:192.0.2.7', 100],
      ['pages:key-of-p1', 150],
      ['page:key-of-p1:192.0.2.8', 100],
    ])
    const ofServer = await app.inject({ url: rate, headers: { 'x-api-key': 'sandbox' }, remoteAddress: '192.0.2.7' })
    expect(ofServer.statusCode).toBe(200)
  })

  test('states the tighter of its limits', async () => {
    const { app } = startApp(createCountingThrottle().throttle)
    const quote = async (remoteAddress: string) =>
      (await app.inject({ url: rate, headers: page, remoteAddress })).headers
    // The client has 100, all pages together have 150.
    expect(await quote('192.0.2.7')).toMatchObject({
      ratelimit: '"minute";r=95;t=9',
      'ratelimit-policy': '"minute";q=100;w=60',
    })
    await quoteUntilRefused(app)('192.0.2.7')
    expect(await quote('192.0.2.8')).toMatchObject({
      ratelimit: '"minute";r=45;t=9',
      'ratelimit-policy': '"minute";q=150;w=60',
    })
  })

  test('may create also where a quarter of the limit of the partner is less than a create', async () => {
    const { throttle, limits } = createCountingThrottle()
    const { app, services } = startApp(throttle)
    const { authenticate } = services
    const caller = await authenticate('page', '192.0.2.7')
    const partner = { ...caller.partner, rateLimitPerMinute: 60 }
    Object.assign(services, { authenticate: () => ({ ...caller, partner }) })
    const create = () => app.inject({ method: 'POST', url: exchange, headers: page, payload: goodOrder })
    expect([(await create()).statusCode, (await create()).statusCode]).toEqual([201, 429])
    expect(limits.get('pages:key-of-p1')).toBe(50)
  })

  test('of one visitor who goes on after the refusals leaves the other visitors their share', async () => {
    const { throttle } = createCountingThrottle()
    const { app } = startApp(throttle)
    const quotesOf = quoteUntilRefused(app)
    await quotesOf('192.0.2.7')
    for (let n = 0; n < 40; n++) await app.inject({ url: rate, headers: page, remoteAddress: '192.0.2.7' })
    expect(await quotesOf('192.0.2.8')).toBe(10)
  })
})

test('origins match exactly; on loopback `*` stands for any port', () => {
  const allowed = (origin: string) => isOriginAllowed(['https://a.example', 'http://localhost:*'], origin)
  expect(['https://a.example', 'http://localhost:5173', 'http://localhost:*'].map(allowed)).toEqual([true, true, true])
  for (const other of [
    'https://b.a.example',
    'http://a.example',
    'http://localhost',
    'http://localhost.evil.example:80',
    'http://127.0.0.1:1',
  ])
    expect(allowed(other)).toBe(false)
})
