import { afterEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Throttle } from '../../../src/core/ports/throttle.ts'
import { createTestApp, goodOrder, goodRate, type TestApp } from './app-for-tests.ts'

const key = { 'x-api-key': 'sandbox' }
const scenarios: TestApp[] = []
afterEach(async () => {
  for (const { app } of scenarios.splice(0)) await app.close()
})

/** Counts for ever: a minute never ends in these tests. */
function counting(): { throttle: Throttle; taken: string[] } {
  const used = new Map<string, number>()
  const taken: string[] = []
  return {
    taken,
    throttle: {
      take: (who, cost, limit) => {
        const sum = (used.get(who) ?? 0) + cost
        if (sum <= limit) used.set(who, sum)
        taken.push(`${who} ${cost} ${limit}`)
        return { allowed: sum <= limit, limit, remaining: Math.max(0, limit - sum), resetSeconds: 42 }
      },
    },
  }
}

function start() {
  const { throttle, taken } = counting()
  const scenario = createTestApp({ throttle, publicLimitPerMinute: 2 })
  scenarios.push(scenario)
  return { app: scenario.app, taken }
}

describe('requests are counted', () => {
  test('counts by partner and weight: create 50, quote 5, status 1', async () => {
    const { app, taken } = start()
    await app.inject({ url: `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`, headers: key })
    await app.inject({ method: 'POST', url: '/v1/cross-chain/exchange', headers: key, payload: goodOrder })
    const last = await app.inject({ url: '/v1/cross-chain/exchange/status?id=x', headers: key })
    expect(taken).toEqual(['p1 5 600', 'p1 50 600', 'p1 1 600'])
    const { ratelimit } = last.headers
    expect(ratelimit).toBe('"minute";r=544;t=42')
  })

  test('refuses with 429 and says when to come back', async () => {
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

  test('counts public routes by address, and health never', async () => {
    const { app } = start()
    const ask = async (url: string, remoteAddress: string) => (await app.inject({ url, remoteAddress })).statusCode
    expect(await ask('/v1/rates', '192.0.2.1')).toBe(200)
    expect(await ask('/v1/rates', '192.0.2.1')).toBe(200)
    expect(await ask('/v1/rates', '192.0.2.1')).toBe(429)
    expect(await ask('/v1/rates', '192.0.2.2')).toBe(200)
    for (let count = 0; count < 5; count += 1) expect(await ask('/health/live', '192.0.2.1')).toBe(200)
  })

  test('wrong keys, too: after too many the answer says when to retry', async () => {
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

  test('is not asked without a key', async () => {
    const { app, taken } = start()
    await app.inject({ url: '/v1/cross-chain/exchange/list' })
    await app.inject({ url: '/v1/cross-chain/exchange/list', headers: { 'x-api-key': 'wrong' } })
    expect(taken).toEqual([])
  })
})
