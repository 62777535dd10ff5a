import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { Throttle } from '../../../src/core/ports/throttle.ts'
import { createTestApp, goodRate, listen, type TestApp } from '../../core/http/app-for-tests.ts'

/*
 * Over a socket a plain quote is answered before the framework sees the request; by `inject` the framework alone answers.
 * Both must be the same, whatever is asked.
 */
const scenarios: TestApp[] = []
afterEach(async () => {
  for (const { app } of scenarios.splice(0)) await app.close()
})

type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

async function start(settings: Parameters<typeof createTestApp>[0] = {}) {
  const scenario = createTestApp(settings)
  scenarios.push(scenario)
  const port = await listen(scenario.app)
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      const sent = httpRequest({ port, host: '127.0.0.1', path, method, headers }, async (response) => {
        const pieces: Buffer[] = []
        for await (const piece of response) pieces.push(piece)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces).toString() })
      })
      sent.on('error', reject)
      sent.end()
    })
  return { ...scenario, ask }
}

/** What differs from one answer to the next: nonce and time of a rateId, ids, and what a connection adds. */
const ofThis = ({ body, headers, status }: Pick<Answer, 'body' | 'headers' | 'status'>) => {
  const { date: _, connection: _1, 'keep-alive': _2, 'x-request-id': id, ...rest } = headers
  const plain = body.replace(/"(rateId|validUntil|requestId)":"[^"]+"/g, '"$1":"…"')
  return { status, body: plain, headers: { ...rest, 'content-length': undefined }, hasId: (id?.length ?? 0) > 16 }
}

const key = { 'x-api-key': 'sandbox' }
const path = (query: Record<string, string> | string) => `/v1/cross-chain/rate?${new URLSearchParams(query)}`

async function bothDoors(scenario: Awaited<ReturnType<typeof start>>, url: string, headers: Record<string, string>) {
  scenario.lines.length = 0
  scenario.observed.length = 0
  const early = await scenario.ask(url, headers)
  await expect.poll(() => scenario.observed.length, PATIENCE).toBe(1)
  const framework = await scenario.app.inject({ url, headers, remoteAddress: '127.0.0.1' })
  await expect.poll(() => scenario.observed.length, PATIENCE).toBe(2)
  const { statusCode: status, body } = framework
  expect(ofThis(early)).toEqual(ofThis({ status, body, headers: framework.headers as IncomingHttpHeaders }))
  const [one, two] = scenario.lines.map(({ level, message, fields }) => ({
    level,
    message,
    fields: { ...fields, requestId: typeof fields['requestId'], elapsedMs: typeof fields['elapsedMs'] },
  }))
  expect(one).toEqual(two)
  expect(scenario.observed[0]).toEqual(scenario.observed[1])
  return early
}

describe('a quote is the same by both doors', () => {
  test('headers, body, log line and count', async () => {
    const { status, headers } = await bothDoors(await start(), path(goodRate), key)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
  })

  test('whatever query, key and sender there are', async () => {
    const scenario = await start()
    const word = fc.oneof(
      fc.constantFrom(
        'btc',
        'usdt',
        'eth',
        'ETH',
        'nope',
        '',
        '0.01',
        '1',
        '-1',
        '1e3',
        '0',
        'fixed',
        'standard',
        'a b',
      ),
      fc.string({ maxLength: 4 }),
    )
    const name = fc.constantFrom(...Object.keys(goodRate), 'flow', 'other', 'amount[]')
    const queries = fc.oneof(
      fc.record({ name, word }).map((one) => path({ ...goodRate, [one.name]: one.word })),
      fc.record({ name, word }).map((one) => `${path(goodRate)}&${one.name}=${encodeURIComponent(one.word)}`),
      fc.constantFrom(...Object.keys(goodRate)).map((left) =>
        path(
          Object.entries(goodRate)
            .filter(([n]) => n !== left)
            .map(([n, v]) => `${n}=${v}`)
            .join('&'),
        ),
      ),
      fc
        .constantFrom('', '&', '=', '==', 'amount', 'amount=1=2', '%', 'a=%zz')
        .map((tail) => `${path(goodRate)}${tail}`),
    )
    const callers = fc.constantFrom(
      'sandbox',
      'strict',
      'read-only',
      'suspended',
      'far-away',
      'wrong',
      'sandbox,sandbox',
    )
    await fc.assert(
      fc.asyncProperty(queries, callers, async (url, caller) => {
        await bothDoors(scenario, url, { 'x-api-key': caller })
      }),
      { numRuns: 300 },
    )
  })

  test('with a proxy in front the caller is who it saw', async () => {
    const scenario = await start({ trustedProxies: 1 })
    for (const forwarded of ['192.0.2.1', '198.51.100.7, 192.0.2.1', '192.0.2.1, 198.51.100.7', '']) {
      await bothDoors(scenario, path(goodRate), { 'x-api-key': 'far-away', 'x-forwarded-for': forwarded })
    }
  })
})

test('a plain quote does not reach the framework, and anything else does', async () => {
  const { services, ask } = await start()
  const asked = vi.spyOn(services, 'authenticate')
  await ask(path(goodRate), key)
  expect(asked).not.toHaveBeenCalled()
  await ask(path({ ...goodRate, amount: '0' }), key)
  expect(asked).toHaveBeenCalledTimes(1)
})

test("a bug on the way is the framework's to answer, and no end of the process", async () => {
  const { services, ask, lines } = await start()
  for (const member of ['quoteRate', 'knownCaller'] as const) {
    const buggy = vi.spyOn(services, member).mockImplementation(() => {
      throw new TypeError('a bug')
    })
    const { status } = await ask(path(goodRate), key)
    buggy.mockRestore()
    expect(status).toBe(member === 'quoteRate' ? 500 : 200)
  }
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info'])
})

test('a quote is charged once, and refused where the budget is spent', async () => {
  let spent = 0
  const throttle: Throttle = {
    take: (_key, cost, limit) => {
      const allowed = spent + cost <= 12
      if (allowed) spent += cost
      return { allowed, limit, remaining: 12 - spent, resetSeconds: 9 }
    },
  }
  const { ask } = await start({ throttle })
  const answers = [await ask(path(goodRate), key), await ask(path(goodRate), key), await ask(path(goodRate), key)]
  expect(answers.map(({ status, headers }) => [status, headers['ratelimit']])).toEqual([
    [200, '"minute";r=7;t=9'],
    [200, '"minute";r=2;t=9'],
    [429, '"minute";r=2;t=9'],
  ])
  // What cannot be quoted is charged once as well.
  spent = 0
  await ask(path({ ...goodRate, fromCurrency: 'nope' }), key)
  expect(spent).toBe(5)
})

test('while the server drains, the framework answers and asks to close', async () => {
  const { app, ask } = await start()
  app.drain()
  const { status, headers } = await ask(path(goodRate), key)
  expect([status, headers.connection]).toEqual([200, 'close'])
})

test('only a GET without a body is a quote', async () => {
  const { ask } = await start()
  expect((await ask(path(goodRate), key, 'POST')).status).toBe(405)
  expect((await ask(path(goodRate), { ...key, 'content-length': '0' })).status).toBe(200)
})
