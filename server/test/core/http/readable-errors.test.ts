import { afterEach, expect, test, vi } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { ApiSettings } from '../../../src/core/http/settings.ts'
import { createTestApp, goodRate, type TestApp } from './app-for-tests.ts'
import { createCountingThrottle } from './counting-throttle.ts'

/* Errors that a page of another origin must be able to read. A browser reports all others like a broken connection. */

const apps: TestApp[] = []
afterEach(async () => {
  for (const { app } of apps.splice(0)) await app.close()
})
function start(settings: Partial<ApiSettings> = {}) {
  const scenario = createTestApp(settings)
  apps.push(scenario)
  return scenario
}

const origin = 'https://wallet.example'
const page = { 'x-api-key': 'page', origin }
const rate = `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`
const exchange = '/v1/cross-chain/exchange'
const readable = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': expect.stringContaining('Retry-After'),
}

const busy = new AppError('OVERLOADED', 'the database does not answer now', { retryAfterSeconds: 2 })
const throttled = new AppError('RATE_LIMIT_EXCEEDED', 'too many wrong API keys', { retryAfterSeconds: 3 })

test.each([
  ['a database that does not answer', busy, 503, '2'],
  ['too many wrong keys', throttled, 429, '3'],
])('before the key is known, pages may read the error of %s', async (_, error, status, seconds) => {
  const { app, services } = start()
  for (const authenticate of [
    async () => Promise.reject(error),
    () => {
      throw error
    },
  ]) {
    Object.assign(services, { authenticate })
    const answers = [
      await app.inject({ url: rate, headers: page }),
      await app.inject({ method: 'POST', url: exchange, headers: page, payload: {} }),
    ]
    for (const { statusCode, headers } of answers)
      expect([statusCode, headers]).toMatchObject([status, { ...readable, 'retry-after': seconds }])
    // Servers send no `Origin`, and other routes are not for pages.
    for (const request of [
      { url: rate, headers: { 'x-api-key': 'page' } },
      { url: `${exchange}/list`, headers: page },
    ]) {
      const other = await app.inject(request)
      expect(other.statusCode).toBe(status)
      expect(other.headers).not.toHaveProperty('access-control-allow-origin')
    }
  }
})

test('a refused key stays hidden from pages of other origins', async () => {
  const { app } = start()
  for (const headers of [
    { ...page, 'x-api-key': 'unknown' },
    { ...page, origin: 'https://evil.example' },
  ]) {
    const refused = await app.inject({ url: rate, headers })
    expect([401, 403]).toContain(refused.statusCode)
    expect(refused.headers).not.toHaveProperty('access-control-allow-origin')
  }
})

test('an error after the key is known is for the origins of the key alone', async () => {
  const { app, services } = start()
  const quoteRate = () => {
    throw busy
  }
  Object.assign(services, { quoteRate })
  const ofPage = await app.inject({ url: rate, headers: page })
  expect([ofPage.statusCode, ofPage.headers['access-control-allow-origin']]).toEqual([503, origin])
  const ofServer = await app.inject({ url: rate, headers: { 'x-api-key': 'sandbox', origin } })
  expect(ofServer.statusCode).toBe(503)
  expect(ofServer.headers).not.toHaveProperty('access-control-allow-origin')
})

const open = { '/v1/rates': 200, '/v1/track?token=none': 400 }

test.each(Object.entries(open))('every answer of %s is for pages of every origin', async (url, status) => {
  const { app, services } = start({ throttle: createCountingThrottle().throttle, publicLimitPerMinute: 2 })
  const get = () => app.inject({ url, headers: { origin } })
  const first = await get()
  expect([first.statusCode, first.headers]).toMatchObject([status, readable])
  if (url === '/v1/rates') {
    services.broken.rates = true
    const unavailable = await get()
    expect([unavailable.statusCode, unavailable.headers]).toMatchObject([503, readable])
  } else await get()
  const refused = await get()
  expect([refused.statusCode, refused.headers]).toMatchObject([429, { ...readable, 'retry-after': '9' }])
})

test('pages may read that the server is overloaded', async () => {
  const { app } = start({ overload: { eventLoopDelayMs: 20, sampleMs: 50 } })
  await app.ready()
  const block = async () => {
    const until = performance.now() + 200
    while (performance.now() < until) Math.sqrt(until)
    const answers = await Promise.all([rate, ...Object.keys(open)].map((url) => app.inject({ url, headers: page })))
    return answers.every(({ statusCode }) => statusCode === 503) ? answers : null
  }
  const refused = await vi.waitUntil(block, { ...PATIENCE, interval: 60 })
  for (const { headers } of refused) expect(headers).toMatchObject(readable)
})
