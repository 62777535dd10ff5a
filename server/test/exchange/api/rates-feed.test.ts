import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { negotiateEncoding } from '../../../src/core/http/encoding.ts'
import { createTestApp, type TestApp } from '../../core/http/app-for-tests.ts'

const url = '/v1/rates'
let scenario: TestApp

beforeEach(() => {
  scenario = createTestApp()
})
afterEach(() => scenario.app.close())

describe('the rates feed', () => {
  test('comes in the encoding that the client likes, the same once decoded', async () => {
    const plain = await scenario.app.inject({ url })
    const gzip = await scenario.app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    const brotli = await scenario.app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br'])
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain.body)
    expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(plain.body)
    expect(new Set([plain, gzip, brotli].map(({ headers }) => headers.etag)).size).toBe(3)
    expect(plain.headers.vary).toBe('accept-encoding')
  })

  test('is 304 for who has it, by tag before date', async () => {
    const { headers } = await scenario.app.inject({ url })
    const etag = String(headers.etag)
    const modified = String(headers['last-modified'])
    const ask = async (conditions: Record<string, string>) =>
      (await scenario.app.inject({ url, headers: conditions })).statusCode
    expect(await ask({ 'if-none-match': etag })).toBe(304)
    expect(await ask({ 'if-none-match': `"other", W/${etag}` })).toBe(304)
    expect(await ask({ 'if-none-match': '*' })).toBe(304)
    expect(await ask({ 'if-none-match': '"other"', 'if-modified-since': modified })).toBe(200)
    expect(await ask({ 'if-modified-since': modified })).toBe(304)
    expect(await ask({ 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' })).toBe(200)
    expect(await ask({ 'if-modified-since': 'nonsense' })).toBe(200)
  })

  test('HEAD has the headers of GET and no body', async () => {
    const [get, head] = await Promise.all(
      (['GET', 'HEAD'] as const).map((method) => scenario.app.inject({ method, url })),
    )
    const strip = ({ 'x-request-id': _id, date: _date, ...headers }: Record<string, unknown>) => headers
    expect(strip(head?.headers ?? {})).toEqual(strip(get?.headers ?? {}))
    expect(head?.body).toBe('')
  })

  test('stale prices are 503 with Retry-After, in the error shape', async () => {
    scenario.services.broken.rates = true
    const answer = await scenario.app.inject({ url })
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([
      503,
      'RATES_UNAVAILABLE',
      '5',
    ])
  })
})

describe('the encoding', () => {
  const offered = ['br', 'gzip', 'identity'] as const
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['*', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['deflate', 'identity'],
    ['gzip;q=nonsense', 'identity'],
  ])('%s gives %s', (header, expected) => {
    expect(negotiateEncoding(header, offered)).toBe(expected)
  })
})
