import { afterAll, expect, test } from 'vitest'
import { mountConsole } from '../../../src/pages/console.ts'
import { createTestApp } from './app-for-tests.ts'

const { app } = createTestApp()
mountConsole(app)
afterAll(() => app.close())

test.each([
  ['DELETE', '/icons/usdt.svg', 'GET, HEAD'],
  ['POST', '/icons/tokens/usdc.svg?size=1', 'GET, HEAD'],
  ['POST', '/console', 'GET, HEAD'],
  ['POST', '/console/assets/app.js', 'GET, HEAD'],
  ['PUT', '/console/exchanges/1', 'GET, HEAD'],
  ['PUT', '/v1/webhooks/7', 'GET, HEAD, DELETE'],
] as const)('%s %s is 405 with the methods of the path', async (method, url, allow) => {
  const answer = await app.inject({ method, url })
  expect([answer.statusCode, answer.json().code, answer.headers.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', allow])
})

test.each(['/icons', '/icons/', '/icons/a/b', '/consoles', '/v1/webhooks/7/x'])('%s is no path', async (url) => {
  const answer = await app.inject({ method: 'PATCH', url })
  expect([answer.statusCode, answer.json().code]).toEqual([404, 'ROUTE_NOT_FOUND'])
})
