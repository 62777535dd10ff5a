import { RateQuote } from '@swapyard/schema'
import fc from 'fast-check'
import { Check } from 'typebox/value'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Throttle } from '../../../src/core/ports/throttle.ts'
import type { IssuedQuote } from '../../../src/exchange/domain/rate-quote.ts'
import { createTestApp, goodRate, type TestApp } from '../../core/http/app-for-tests.ts'

/* GET /v1/cross-chain/rate, which partners poll more than anything else. */
const scenarios: TestApp[] = []
afterEach(async () => {
  for (const { app } of scenarios.splice(0)) await app.close()
})

function start(settings: Parameters<typeof createTestApp>[0] = {}) {
  const scenario = createTestApp(settings)
  scenarios.push(scenario)
  const ask = (url: string, headers: Record<string, string> = key, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    scenario.app.inject({ url, headers, method, remoteAddress: '127.0.0.1' })
  return { ...scenario, ask }
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
    fromUsd: units,
    toUsd: units,
    fees: fc.record({ serviceUnits: units, partnerUnits: units, networkUnits: units }),
    withinBounds: fc.boolean(),
  }),
  rateId: fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{20,100}$/)),
  validUntil: fc.option(fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })),
})

/** The first 15 significant digits of an amount, as a literal: independent of our own formatting. */
function literalOf(amount: bigint, decimals: number, rounding: 'up' | 'down'): number {
  const digits = String(amount)
  const dropped = Math.max(0, digits.length - 15)
  const unit = 10n ** BigInt(dropped)
  const kept = amount / unit + (rounding === 'up' && amount % unit > 0n ? 1n : 0n)
  return Number(`${kept}e${dropped - decimals}`)
}

const significantDigits = (value: number): number =>
  String(value)
    .replace(/e.*$/, '')
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length

describe('the body of a quote', () => {
  test('matches the published schema, member by member in its order, for any quote', async () => {
    const { services, ask } = start()
    const quoteRate = vi.spyOn(services, 'quoteRate')
    await fc.assert(
      fc.asyncProperty(issuedQuotes, async (issued) => {
        quoteRate.mockReturnValue(issued)
        const { statusCode, body, headers } = await ask(path(goodRate))
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

  test('has amounts as JSON numbers with at most 15 significant digits, minimums rounded up', async () => {
    const { services, ask } = start()
    const quoteRate = vi.spyOn(services, 'quoteRate')
    await fc.assert(
      fc.asyncProperty(issuedQuotes, async (issued) => {
        quoteRate.mockReturnValue(issued)
        const answer = JSON.parse((await ask(path(goodRate))).body)
        const { from, to, minUnits, maxUnits, fromUnits, toUnits } = issued.quote
        expect(answer.min).toBe(literalOf(minUnits, from.decimals, 'up'))
        expect(answer.max).toBe(maxUnits === null ? null : literalOf(maxUnits, from.decimals, 'down'))
        expect(answer.fromAmount).toBe(literalOf(fromUnits, from.decimals, 'down'))
        expect(answer.toAmount).toBe(literalOf(toUnits, to.decimals, 'down'))
        for (const value of [answer.min, answer.max ?? 0, answer.fromAmount, answer.toAmount])
          expect(significantDigits(value)).toBeLessThanOrEqual(15)
      }),
    )
  })
})

describe('a quote', () => {
  test('is not to be stored, has a request id, and leaves one log line and one observation', async () => {
    const { ask, lines, observed } = start()
    const { statusCode, headers } = await ask(path(goodRate))
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

  test('is an answer of the schema or an error of the documented shape, whatever query and key are sent', async () => {
    const { ask } = start()
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
    const keys = fc.constantFrom('sandbox', 'strict', 'read-only', 'suspended', 'far-away', 'wrong', 'sandbox,sandbox')
    await fc.assert(
      fc.asyncProperty(urls, keys, async (url, sent) => {
        const { statusCode, body, headers } = await ask(url, { 'x-api-key': sent })
        const answer = JSON.parse(body)
        if (statusCode === 200) {
          expect(['sandbox', 'strict', 'read-only']).toContain(sent)
          expect(Check(RateQuote, answer)).toBe(true)
        } else {
          expect([400, 401, 403, 404, 422]).toContain(statusCode)
          expect(Object.keys(answer)).toEqual(['message', 'error', 'statusCode', 'code', 'requestId', 'errors'])
          expect(answer).toMatchObject({ statusCode, requestId: headers['x-request-id'] })
        }
      }),
      { numRuns: 300 },
    )
  })

  test('refuses unknown members for a strict partner only', async () => {
    const { ask } = start()
    const url = path({ ...goodRate, colour: 'red' })
    expect((await ask(url)).statusCode).toBe(200)
    const refused = await ask(url, { 'x-api-key': 'strict' })
    expect([refused.statusCode, refused.json().errors[0].field]).toEqual([400, 'colour'])
  })

  test('reads the caller address from the trusted proxy', async () => {
    const { ask } = start({ trustedProxies: 1 })
    const statusOf = async (forwarded: string) =>
      (await ask(path(goodRate), { 'x-api-key': 'far-away', 'x-forwarded-for': forwarded })).statusCode
    expect(await statusOf('192.0.2.1')).toBe(200)
    expect(await statusOf('198.51.100.7, 192.0.2.1')).toBe(200)
    expect(await statusOf('192.0.2.1, 198.51.100.7')).toBe(403)
    expect(await statusOf('')).toBe(403)
    const untrusting = start()
    const headers = { 'x-api-key': 'far-away', 'x-forwarded-for': '192.0.2.1' }
    expect((await untrusting.ask(path(goodRate), headers)).statusCode).toBe(403)
  })

  test('costs its weight once, also when it is refused, and is 429 when the budget is spent', async () => {
    let spent = 0
    const throttle: Throttle = {
      take: (_key, cost, limit) => {
        const allowed = spent + cost <= 12
        if (allowed) spent += cost
        return { allowed, limit, remaining: 12 - spent, resetSeconds: 9 }
      },
    }
    const { ask } = start({ throttle })
    const answers = [await ask(path(goodRate)), await ask(path(goodRate)), await ask(path(goodRate))]
    expect(answers.map(({ statusCode, headers }) => [statusCode, headers['ratelimit']])).toEqual([
      [200, '"minute";r=7;t=9'],
      [200, '"minute";r=2;t=9'],
      [429, '"minute";r=2;t=9'],
    ])
    spent = 0
    await ask(path({ ...goodRate, fromCurrency: 'nope' }))
    expect(spent).toBe(5)
  })

  test('is 500 after a bug, which is logged as an error', async () => {
    const { services, ask, lines } = start()
    vi.spyOn(services, 'quoteRate').mockImplementation(() => {
      throw new TypeError('a bug')
    })
    expect((await ask(path(goodRate))).statusCode).toBe(500)
    expect(lines.map(({ level }) => level)).toEqual(['error'])
  })

  test('asks to close the connection while the server drains', async () => {
    const { app, ask } = start()
    app.drain()
    const { statusCode, headers } = await ask(path(goodRate))
    expect([statusCode, headers.connection]).toEqual([200, 'close'])
  })

  test('has the headers of GET and no body for HEAD, and 405 with Allow for POST', async () => {
    const { ask } = start()
    const head = await ask(path(goodRate), key, 'HEAD')
    expect([head.statusCode, head.body, head.headers['cache-control']]).toEqual([200, '', 'no-store'])
    expect(Number(head.headers['content-length'])).toBeGreaterThan(200)
    const post = await ask(path(goodRate), key, 'POST')
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})
