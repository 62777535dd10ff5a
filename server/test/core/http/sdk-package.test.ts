import { execFileSync } from 'node:child_process'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mountSdkPackage } from '../../../src/pages/docs/sdk-package.ts'
import { createTestApp } from './app-for-tests.ts'

describe('/docs/swapyard-sdk.tgz', () => {
  let app: FastifyInstance
  beforeAll(() => {
    app = createTestApp().app
    mountSdkPackage(app)
  })
  afterAll(() => app.close())
  const get = (headers: Record<string, string> = {}) => app.inject({ url: '/docs/swapyard-sdk.tgz', headers })

  test('is the archive of the client library, as it is also for clients that accept compression', async () => {
    const { statusCode, headers, rawPayload } = await get({ 'accept-encoding': 'gzip' })
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/gzip'])
    expect(headers).not.toHaveProperty('content-encoding')
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
    const names = execFileSync('tar', ['-tz'], { input: rawPayload, encoding: 'utf8' }).trim().split('\n')
    for (const name of ['package.json', 'LICENSE', 'dist/esm/index.js', 'dist/cjs/index.d.ts', 'dist/cli/main.js'])
      expect(names).toContain(`package/${name}`)
  })

  test('is answered with 304 for a known ETag, and to HEAD', async () => {
    const { headers } = await get()
    const again = await get({ 'if-none-match': String(headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const head = await app.inject({ method: 'HEAD', url: '/docs/swapyard-sdk.tgz' })
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })
})
