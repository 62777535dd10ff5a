import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { ApiSettings } from '../../../src/core/http/settings.ts'
import { createTestApp, goodOrder, listen, type TestApp } from './app-for-tests.ts'

const scenarios: TestApp[] = []
afterEach(async () => {
  for (const { app } of scenarios.splice(0)) await app.close()
})

function start(settings: Partial<ApiSettings> = {}): TestApp {
  const scenario = createTestApp(settings)
  scenarios.push(scenario)
  return scenario
}

function sendGet(port: number, path: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = get({ port, host: '127.0.0.1', path, agent, headers: { 'x-api-key': 'sandbox' } }, (answer) => {
      answer.resume().on('end', () => resolve(answer))
    })
    sent.on('error', reject)
  })
}

describe('readiness', () => {
  test('returns 503 with the reasons while quotes or creates would fail, and leaves liveness at 200', async () => {
    const { app, services } = start()
    expect((await app.inject({ url: '/health/ready' })).statusCode).toBe(200)
    services.broken.reasons = ['no prices']
    const answer = await app.inject({ url: '/health/ready' })
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({ statusCode: 503, status: 'unavailable', reasons: ['no prices'] })
    expect(answer.headers['retry-after']).toBe('5')
    expect((await app.inject({ url: '/health/live' })).json()).toEqual({ status: 'ok' })
  })
})

describe('draining', () => {
  test('turns readiness off, closes connections, and finishes requests in progress', async () => {
    const { app, services } = start()
    const port = await listen(app)
    let release: () => void = () => undefined
    const blocked = new Promise<void>((resolve) => {
      release = resolve
    })
    let isCalled = false
    Object.assign(services, {
      findExchange: async () => {
        isCalled = true
        await blocked
        return null
      },
    })
    const agent = new Agent({ keepAlive: true })
    const inProgress = sendGet(port, '/v1/cross-chain/exchange/status?id=x', agent)
    await vi.waitUntil(() => isCalled, PATIENCE)
    app.drain()
    const ready = await sendGet(port, '/health/ready', agent)
    expect([ready.statusCode, ready.headers.connection]).toEqual([503, 'close'])
    const live = await sendGet(port, '/health/live', agent)
    expect(live.statusCode).toBe(200)
    const closed = app.close()
    release()
    expect((await inProgress).statusCode).toBe(404)
    await closed
    agent.destroy()
  })
})

describe('overload', () => {
  test('returns 503 with Retry-After on all routes except liveness, metrics and files of pages, and recovers', async () => {
    const { app } = start({ overload: { eventLoopDelayMs: 20, sampleMs: 50 } })
    await app.ready()
    const status = async (url: string) => (await app.inject({ url })).statusCode
    const block = async () => {
      const until = performance.now() + 200
      while (performance.now() < until) Math.sqrt(until)
      const answer = await app.inject({ url: '/v1/rates' })
      return answer.statusCode === 503 ? answer : null
    }
    const refused = await vi.waitUntil(block, { ...PATIENCE, interval: 60 })
    expect([refused.json().code, refused.headers['retry-after']]).toEqual(['OVERLOADED', '5'])
    expect(await status('/health/live')).toBe(200)
    expect(await status('/metrics')).toBe(200)
    expect(await status('/console/assets/none.js')).toBe(404)
    await vi.waitUntil(async () => (await status('/v1/rates')) === 200, PATIENCE)
  })
})

describe('slow creates', () => {
  test('return 503 and point to the Idempotency-Key', async () => {
    const { app, services } = start({ createTimeoutMs: 50 })
    Object.assign(services, { createExchange: () => new Promise(() => undefined) })
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/cross-chain/exchange',
      headers: { 'x-api-key': 'sandbox' },
      payload: goodOrder,
    })
    expect([answer.statusCode, answer.json().code]).toEqual([503, 'OVERLOADED'])
    expect(answer.json().message).toContain('Idempotency-Key')
  })
})

describe('connections', () => {
  test('serve a body that follows Expect: 100-continue', async () => {
    const { app } = start()
    const socket = connect(await listen(app), '127.0.0.1').setEncoding('utf8')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    const body = JSON.stringify(goodOrder)
    const head = `POST /v1/cross-chain/exchange HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: sandbox\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    socket.write(`${head}Expect: 100-continue\r\n\r\n`)
    await vi.waitUntil(() => text.startsWith('HTTP/1.1 100'), PATIENCE)
    socket.write(body)
    await once(socket, 'close')
    expect(text).toContain('HTTP/1.1 201')
  })

  test('answer in the error format to another Expect, too many headers, no Host, CONNECT and non-HTTP bytes', async () => {
    const { app } = start()
    const port = await listen(app)
    const answers = await Promise.all(
      [
        'GET /v1/rates HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n',
        `GET /v1/rates HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(5_000)}\r\n`,
        'SSH-2.0-OpenSSH_9.2\r\n\r\n',
        'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n',
        'GET /v1/rates HTTP/1.1\r\nConnection: close\r\n\r\n',
        'GET /v1/cross-chain/rate?fromCurrency=btc&fromNetwork=btc&toCurrency=eth&toNetwork=eth HTTP/1.1\r\nx-api-key: sandbox\r\nConnection: close\r\n\r\n',
      ].map(async (bytes) => {
        let text = ''
        const socket = connect(port, '127.0.0.1').setEncoding('utf8')
        socket.on('data', (chunk) => {
          text += chunk
        })
        socket.on('error', () => socket.destroy())
        socket.write(bytes)
        await new Promise((resolve) => socket.once('close', resolve))
        return JSON.parse(text.slice(text.indexOf('{')))
      }),
    )
    expect(answers.map(({ statusCode, code }) => [statusCode, code])).toEqual([
      [400, 'VALIDATION_ERROR'],
      [431, 'HEADERS_TOO_LARGE'],
      [400, 'VALIDATION_ERROR'],
      [405, 'METHOD_NOT_ALLOWED'],
      [400, 'VALIDATION_ERROR'],
      [400, 'VALIDATION_ERROR'],
    ])
  })
})
