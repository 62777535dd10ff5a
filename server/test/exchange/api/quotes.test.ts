import { RateQuote } from '@swapyard/schema'
import fc from 'fast-check'
import { Check } from 'typebox/value'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Throttle } from '../../../src/core/ports/throttle.ts'
import type { IssuedQuote } from '../../../src/exchange/domain/rate-quote.ts'
import { createTestApp, goodRate, type TestApp } from '../../core/http/app-for-tests.ts'

/* GET /v1/cross-chain/rate, the route that partners call most. */
const scenarios: TestApp[] = []
afterEach(async () => {
  for (const { app } of scenarios.splice(0)) await app.close()
})

function startApp(settings: Parameters<typeof createTestApp>[0] = {}) {
  const scenario = createTestApp(settings)
  scenarios.push(scenario)
  const request = (url: string, headers: Record<string, string> = key, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    scenario.app.inject({ url, headers, method, remoteAddress: '127.0.0.1' })
  return { ...scenario, request }
}

const key = { 'x-api-key': 'sandbox' }
const path = (query: Record<string, string>) => `/v1/cross-chain/rate?${new URLSearchParams(query)}`

const units = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.bigInt({ min: 0n, max: 10n ** 40n }))
const asset = fc.record({
  id: fc.constant('coin@net' as const),
  ticker: fc.string({ unit: 'binary' }),
  network: fc.string(),
  decimals: fc.nat({ max: 24 }),
  contract: fc.constant(null),
})
const issuedQuotes: fc.Arbitrary<IssuedQuote> = fc.record({
  quote: fc.record({
    from: asset,
    to: asset,
    flow: fc.constant('standard' as const),
    fromUnits: units,
    toUnits: units,
    minUnits: units,
    maxUnits: fc.option(units),
    minToUnits: units,
    maxToUnits: fc.option(units),
    fromUsd: units,
    toUsd: units,
    fees: fc.record({ serviceUnits: units, partnerUnits: units, networkUnits: units, payoutUnits: units }),
    withinBounds: fc.boolean(),
  }),
  rateId: fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{20,100}$/)),
  validUntil: fc.option(fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })),
})

/** The first 15 significant digits of an amount as a number, computed without the code under test. */
function toRoundedNumber(amount: bigint, decimals: number, rounding: 'up' | 'down'): number {
  const digits = String(amount)
  const droppedDigits = Math.max(0, digits.length - 15)
  const unit = 10n ** BigInt(droppedDigits)
  const significand = amount / unit + (rounding === 'up' && amount % unit > 0n ? 1n : 0n)
  return Number(`${significand}e${droppedDigits - decimals}`)
}

const countSignificantDigits = (value: number): number =>
  String(value)
    .replace(/e.*$/, '')
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length

describe('the body of a rate quote', () => {
  test('matches the published schema and the order of its members, for any quote', async () => {
    const { services, request } = startApp()
    const quoteRate = vi.spyOn(services, 'quoteRate')
    await fc.assert(
      fc.asyncProperty(issuedQuotes, async (issued) => {
        quoteRate.mockReturnValue(issued)
        const { statusCode, body, headers } = await request(path(goodRate))
        const answer = JSON.parse(body)
        expect(statusCode).toBe(200)
        expect(Check(RateQuote, answer)).toBe(true)
        expect(Object.keys(answer)).toEqual(Object.keys(RateQuote.properties))
        expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body))
        const { from, to } = issued.quote
        expect(answer).toMatchObject({ fromCurrency: from.ticker, toCurrency: to.ticker, rateId: issued.rateId })
      }),
    )
  })

  test('has JSON numbers with at most 15 significant digits; the minimum is rounded up, other amounts down', async () => {
    const { services, request } = startApp()
    const quoteRate = vi.spyOn(services, 'quoteRate')
    await fc.assert(
      fc.asyncProperty(issuedQuotes, async (issued) => {
        quoteRate.mockReturnValue(issued)
        const answer = JSON.parse((await request(path(goodRate))).body)
        const { from, to, minUnits, maxUnits, minToUnits, maxToUnits, fromUnits, toUnits } = issued.quote
        expect(answer.min).toBe(toRoundedNumber(minUnits, from.decimals, 'up'))
        expect(answer.max).toBe(maxUnits === null ? null : toRoundedNumber(maxUnits, from.decimals, 'down'))
        expect(answer.fromAmount).toBe(toRoundedNumber(fromUnits, from.decimals, 'down'))
        expect(answer.toAmount).toBe(toRoundedNumber(toUnits, to.decimals, 'down'))
        expect(answer.minTo).toBe(toRoundedNumber(minToUnits, to.decimals, 'down'))
        expect(answer.maxTo).toBe(maxToUnits === null ? null : toRoundedNumber(maxToUnits, to.decimals, 'down'))
        for (const value of [answer.min, answer.max ?? 0, answer.fromAmount, answer.toAmount])
          expect(countSignificantDigits(value)).toBeLessThanOrEqual(15)
      }),
    )
  })
})

describe('a request for a rate quote', () => {
  test('has no-store and a request id, writes one log line and records one metric', async () => {
    const { request, lines, observed } = startApp()
    const { statusCode, headers } = await request(path(goodRate))
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{16}-[0-9a-z]+$/),
    })
    expect(headers).not.toHaveProperty('ratelimit')
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'request answered',
        fields: {
          requestId: headers['x-request-id'],
          elapsedMs: expect.any(Number),
          method: 'GET',
          path: '/v1/cross-chain/rate',
          status: 200,
          ip: '127.0.0.1',
          partnerId: 'p1',
          keyId: 'key-of-p1',
          code: undefined,
        },
      },
    ])
    expect(observed).toEqual([{ route: '/v1/cross-chain/rate', method: 'GET', status: 200 }])
  })

  test('returns a valid quote or a documented error for any query and key', async () => {
    const { request } = startApp()
    const value = fc.oneof(
      fc.constantFrom('btc', 'usdt', 'ETH', 'nope', '', '0.01', '-1', '1e3', '0', 'fixed', 'standard', 'a b'),
      fc.string({ maxLength: 4 }),
    )
    const name = fc.constantFrom(...Object.keys(goodRate), 'flow', 'other', 'amount[]')
    const urls = fc.oneof(
      fc.record({ name, value }).map((one) => path({ ...goodRate, [one.name]: one.value })),
      fc.record({ name, value }).map((one) => `${path(goodRate)}&${one.name}=${encodeURIComponent(one.value)}`),
      fc
        .constantFrom('', '&', '=', '==', 'amount', 'amount=1=2', '%', 'a=%zz')
        .map((tail) => `${path(goodRate)}${tail}`),
    )
    let quoted = 0
    const keys = fc.constantFrom('sandbox', 'strict', 'read-only', 'suspended', 'far-away', 'wrong', 'sandbox,sandbox')
    await fc.assert(
      fc.asyncProperty(urls, keys, async (url, apiKey) => {
        const { statusCode, body, headers } = await request(url, { 'x-api-key': apiKey })
        const answer = JSON.parse(body)
        if (statusCode === 200) {
          quoted += 1
          expect(['sandbox', 'strict', 'read-only']).toContain(apiKey)
          expect(Check(RateQuote, answer)).toBe(true)
        } else {
          expect([400, 401, 403, 404, 422]).toContain(statusCode)
          expect(Object.keys(answer)).toEqual(['message', 'error', 'statusCode', 'code', 'requestId', 'errors'])
          expect(answer).toMatchObject({ statusCode, requestId: headers['x-request-id'] })
        }
      }),
      { numRuns: 300 },
    )
    // About one query in ten is valid and has a key that may quote.
    expect(quoted).toBeGreaterThan(5)
  })

  test('rejects unknown parameters for a strict partner only', async () => {
    const { request } = startApp()
    const url = path({ ...goodRate, colour: 'red' })
    expect((await request(url)).statusCode).toBe(200)
    const response = await request(url, { 'x-api-key': 'strict' })
    expect([response.statusCode, response.json().errors[0].field]).toEqual([400, 'colour'])
  })

  test('reads the client IP from the header of a trusted proxy only', async () => {
    const { request } = startApp({ trustedProxies: 1 })
    const requestFrom = async (forwarded: string) =>
      (await request(path(goodRate), { 'x-api-key': 'far-away', 'x-forwarded-for': forwarded })).statusCode
    expect(await requestFrom('192.0.2.1')).toBe(200)
    expect(await requestFrom('198.51.100.7, 192.0.2.1')).toBe(200)
    expect(await requestFrom('192.0.2.1, 198.51.100.7')).toBe(403)
    expect(await requestFrom('')).toBe(403)
    const untrusting = startApp()
    const headers = { 'x-api-key': 'far-away', 'x-forwarded-for': '192.0.2.1' }
    expect((await untrusting.request(path(goodRate), headers)).statusCode).toBe(403)
  })

  test('takes its cost from the budget once, even when it is rejected; returns 429 when the budget is used up', async () => {
    let spent = 0
    const throttle: Throttle = {
      take: (_key, cost, limit) => {
        const allowed = spent + cost <= 12
        if (allowed) spent += cost
        return { allowed, limit, remaining: 12 - spent, resetSeconds: 9 }
      },
    }
    const { request } = startApp({ throttle })
    const answers = [await request(path(goodRate)), await request(path(goodRate)), await request(path(goodRate))]
    expect(answers.map(({ statusCode, headers }) => [statusCode, headers['ratelimit']])).toEqual([
      [200, '"minute";r=7;t=9'],
      [200, '"minute";r=2;t=9'],
      [429, '"minute";r=2;t=9'],
    ])
    spent = 0
    await request(path({ ...goodRate, fromCurrency: 'nope' }))
    expect(spent).toBe(5)
  })

  test('returns 500 after an unexpected exception and logs an error', async () => {
    const { services, request, lines } = startApp()
    vi.spyOn(services, 'quoteRate').mockImplementation(() => {
      throw new TypeError('a bug')
    })
    expect((await request(path(goodRate))).statusCode).toBe(500)
    expect(lines.map(({ level }) => level)).toEqual(['error'])
  })

  test('sends Connection: close while the server drains', async () => {
    const { app, request } = startApp()
    app.drain()
    const { statusCode, headers } = await request(path(goodRate))
    expect([statusCode, headers.connection]).toEqual([200, 'close'])
  })

  test('returns the headers without a body for HEAD, and 405 with Allow for POST', async () => {
    const { request } = startApp()
    const head = await request(path(goodRate), key, 'HEAD')
    expect([head.statusCode, head.body, head.headers['cache-control']]).toEqual([200, '', 'no-store'])
    expect(Number(head.headers['content-length'])).toBeGreaterThan(200)
    const post = await request(path(goodRate), key, 'POST')
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})
