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
  test('uses the encoding that the client prefers; the decoded body is always the same', async () => {
    const plain = await scenario.app.inject({ url })
    const gzip = await scenario.app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    const brotli = await scenario.app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br'])
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain.body)
    expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(plain.body)
    expect(new Set([plain, gzip, brotli].map(({ headers }) => headers.etag)).size).toBe(3)
    expect(plain.headers.vary).toBe('accept-encoding')
  })

  test('returns 304 for an unchanged feed; the ETag takes precedence over the date', async () => {
    const { headers } = await scenario.app.inject({ url })
    const etag = String(headers.etag)
    const modified = String(headers['last-modified'])
    const requestStatus = async (conditions: Record<string, string>) =>
      (await scenario.app.inject({ url, headers: conditions })).statusCode
    expect(await requestStatus({ 'if-none-match': etag })).toBe(304)
    expect(await requestStatus({ 'if-none-match': `"other", W/${etag}` })).toBe(304)
    expect(await requestStatus({ 'if-none-match': '*' })).toBe(304)
    expect(await requestStatus({ 'if-none-match': '"other"', 'if-modified-since': modified })).toBe(200)
    expect(await requestStatus({ 'if-modified-since': modified })).toBe(304)
    expect(await requestStatus({ 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' })).toBe(200)
    expect(await requestStatus({ 'if-modified-since': 'nonsense' })).toBe(200)
  })

  test('returns the headers of GET without a body for HEAD', async () => {
    const [get, head] = await Promise.all(
      (['GET', 'HEAD'] as const).map((method) => scenario.app.inject({ method, url })),
    )
    const omitRequestHeaders = ({ 'x-request-id': _id, date: _date, ...headers }: Record<string, unknown>) => headers
    expect(omitRequestHeaders(head?.headers ?? {})).toEqual(omitRequestHeaders(get?.headers ?? {}))
    expect(head?.body).toBe('')
  })

  test('returns 503 with Retry-After and an error body when prices are stale', async () => {
    scenario.services.broken.rates = true
    const answer = await scenario.app.inject({ url })
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([
      503,
      'RATES_UNAVAILABLE',
      '5',
    ])
  })
})

describe('negotiating the encoding', () => {
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
  ])('Accept-Encoding %s selects %s', (header, expected) => {
    expect(negotiateEncoding(header, offered)).toBe(expected)
  })
})
