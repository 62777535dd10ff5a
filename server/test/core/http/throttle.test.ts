import { afterEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Throttle } from '../../../src/core/ports/throttle.ts'
import { createTestApp, goodOrder, goodRate, type TestApp } from './app-for-tests.ts'

const key = { 'x-api-key': 'sandbox' }
const scenarios: TestApp[] = []
afterEach(async () => {
  for (const { app } of scenarios.splice(0)) await app.close()
})

/** Creates a throttle that records its charges. It never resets: no minute ends in these tests. */
function createRecordingThrottle(): { throttle: Throttle; charges: string[] } {
  const used = new Map<string, number>()
  const charges: string[] = []
  return {
    charges,
    throttle: {
      take: (account, cost, limit) => {
        const sum = (used.get(account) ?? 0) + cost
        if (sum <= limit) used.set(account, sum)
        charges.push(`${account} ${cost} ${limit}`)
        return { allowed: sum <= limit, limit, remaining: Math.max(0, limit - sum), resetSeconds: 42 }
      },
    },
  }
}

function start() {
  const { throttle, charges } = createRecordingThrottle()
  const scenario = createTestApp({ throttle, publicLimitPerMinute: 2 })
  scenarios.push(scenario)
  return { app: scenario.app, charges }
}

describe('request limits', () => {
  test('charge partners by weight: create 50, quote 5, status 1', async () => {
    const { app, charges } = start()
    await app.inject({ url: `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`, headers: key })
    await app.inject({ method: 'POST', url: '/v1/cross-chain/exchange', headers: key, payload: goodOrder })
    const last = await app.inject({ url: '/v1/cross-chain/exchange/status?id=x', headers: key })
    expect(charges).toEqual(['p1 5 600', 'p1 50 600', 'p1 1 600'])
    const { ratelimit } = last.headers
    expect(ratelimit).toBe('"minute";r=544;t=42')
    // The quota is known before it is exceeded.
    expect(last.headers['ratelimit-policy']).toBe('"minute";q=600;w=60')
  })

  test('refuse with 429 and the time of the next retry', async () => {
    const { app } = start()
    const answers = []
    for (let count = 0; count < 13; count += 1) {
      answers.push(
        await app.inject({ method: 'POST', url: '/v1/cross-chain/exchange', headers: key, payload: goodOrder }),
      )
    }
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(12).fill(201), 429])
    const refused = answers.at(-1)
    expect(refused?.json().code).toBe('RATE_LIMIT_EXCEEDED')
    expect(refused?.headers).toMatchObject({
      'retry-after': '42',
      ratelimit: '"minute";r=0;t=42',
      'ratelimit-policy': '"minute";q=600;w=60',
      'ratelimit-limit': '600',
    })
    // Another partner has its own budget.
    const other = await app.inject({ url: '/v1/cross-chain/exchange/list', headers: { 'x-api-key': 'sandbox-b' } })
    expect(other.statusCode).toBe(200)
  })

  test('charge public routes by address, and never charge health (B119)', async () => {
    const { app } = start()
    const sendGet = async (url: string, remoteAddress: string) => (await app.inject({ url, remoteAddress })).statusCode
    expect(await sendGet('/v1/rates', '192.0.2.1')).toBe(200)
    expect(await sendGet('/v1/rates', '192.0.2.1')).toBe(200)
    expect(await sendGet('/v1/rates', '192.0.2.1')).toBe(429)
    expect(await sendGet('/v1/rates', '192.0.2.2')).toBe(200)
    for (let count = 0; count < 5; count += 1) expect(await sendGet('/health/live', '192.0.2.1')).toBe(200)
  })

  test('M27.10: charge all addresses of an IPv6 network together, because a caller has 2^64 of them', async () => {
    const { app } = start()
    const sendGet = async (remoteAddress: string) => (await app.inject({ url: '/v1/rates', remoteAddress })).statusCode
    // Addresses of RFC 3849: the budget is two requests.
    expect(await sendGet('2001:db8:0:1::1')).toBe(200)
    expect(await sendGet('2001:db8:0:1::2')).toBe(200)
    expect(await sendGet('2001:db8:0:1:ffff::3')).toBe(429)
    expect(await sendGet('2001:db8:0:2::1')).toBe(200)
  })

  test('return the time of the next retry after too many wrong keys', async () => {
    const scenario = createTestApp()
    scenarios.push(scenario)
    const authenticate = () => {
      throw new AppError('RATE_LIMIT_EXCEEDED', 'too many wrong API keys', { retryAfterSeconds: 3 })
    }
    Object.assign(scenario.services, { authenticate })
    const refused = await scenario.app.inject({
      url: '/v1/cross-chain/exchange/list',
      headers: { 'x-api-key': 'wrong' },
    })
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'retry-after': '3', ratelimit: '"keys";r=0;t=3' })
  })

  test('charge nothing for a missing or wrong key', async () => {
    const { app, charges } = start()
    await app.inject({ url: '/v1/cross-chain/exchange/list' })
    await app.inject({ url: '/v1/cross-chain/exchange/list', headers: { 'x-api-key': 'wrong' } })
    expect(charges).toEqual([])
  })
})
