import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mountWidget } from '../../../src/pages/widget.ts'
import { createTestApp } from './app-for-tests.ts'

describe('/widget.js', () => {
  let app: FastifyInstance
  beforeAll(() => {
    app = createTestApp().app
    mountWidget(app)
  })
  afterAll(() => app.close())
  const get = (headers: Record<string, string> = {}) => app.inject({ url: '/widget.js', headers })

  test('may be loaded and checked by every page, and is cached for a short time', async () => {
    const { statusCode, headers } = await get({ origin: 'https://wallet.example' })
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=300, no-transform',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('is answered with 304 for a known ETag, and to HEAD', async () => {
    const { headers } = await get()
    const again = await get({ 'if-none-match': String(headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    expect(again.headers['access-control-allow-origin']).toBe('*')
    const head = await app.inject({ method: 'HEAD', url: '/widget.js' })
    expect([head.statusCode, head.body, head.headers['access-control-allow-origin']]).toEqual([200, '', '*'])
  })

  test('takes at most 60 kB with gzip, and has the same content with and without it', async () => {
    const [plain, compressed] = [await get(), await get({ 'accept-encoding': 'gzip' })]
    expect(compressed.headers['content-encoding']).toBe('gzip')
    expect(compressed.rawPayload.length).toBeLessThanOrEqual(60_000)
    const digest = (content: Buffer) => createHash('sha384').update(content).digest('base64')
    expect(digest(gunzipSync(compressed.rawPayload))).toBe(digest(plain.rawPayload))
  })

  test('evaluates no text as code, and asks for no other file', async () => {
    const { body } = await get()
    expect(body).not.toMatch(/\beval\(|new Function\(|innerHTML|import\(|document\.write|sourceMappingURL/)
  })
})
