import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSwapyard } from './client.ts'
import { SwapyardError } from './errors.ts'
import { operations } from './generated/operations.ts'
import { failure, json, type Respond, reset, silence, startServer } from './server.fixture.ts'

const rate = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const order = { ...rate, fromAmount: '0.01', flow: 'standard' as const }
const apiKey = 'secret-key-of-the-partner'

async function catchError(promise: Promise<unknown>): Promise<SwapyardError> {
  const error = await promise.then(
    () => expect.fail('the call succeeded'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof SwapyardError)) throw error
  return error
}

describe('a request', () => {
  test('has the key, the query and the path behind the prefix of baseUrl', async () => {
    const { baseUrl, received } = await startServer(json({ toAmount: 1 }))
    const swapyard = createSwapyard({ baseUrl: `${baseUrl}/partners/`, apiKey })
    await swapyard.quoteRate({ ...rate, amount: '0.01' })
    expect(received).toMatchObject([
      {
        method: 'GET',
        url: '/partners/v1/cross-chain/rate?fromCurrency=btc&fromNetwork=btc&toCurrency=eth&toNetwork=eth&amount=0.01',
        headers: { 'x-api-key': apiKey },
      },
    ])
    expect(received[0]?.headers['idempotency-key']).toBeUndefined()
  })

  test('escapes the query and leaves out absent members', async () => {
    const { baseUrl, received } = await startServer(json({ valid: true }))
    await createSwapyard({ baseUrl }).validateAddress({
      currency: 'xmr',
      network: 'xmr',
      address: 'a&b=c d',
      memo: undefined as never,
    })
    const query = new URL(received[0]?.url ?? '', baseUrl).searchParams
    expect([...query]).toEqual([
      ['currency', 'xmr'],
      ['network', 'xmr'],
      ['address', 'a&b=c d'],
    ])
  })

  test('of a create has JSON and a key of its own', async () => {
    const { baseUrl, received } = await startServer(json({ id: '1' }, 201))
    const swapyard = createSwapyard({ baseUrl, apiKey })
    await swapyard.createExchange(order)
    await swapyard.createExchange(order)
    await swapyard.createExchange(order, { idempotencyKey: 'order-4711' })
    expect(received.map(({ body }) => JSON.parse(body))).toEqual([order, order, order])
    expect(received[0]?.headers['content-type']).toBe('application/json')
    const keys = received.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys[1]).not.toBe(keys[0])
    expect(keys[2]).toBe('order-4711')
  })

  test('shows the headers of the answer', async () => {
    const { baseUrl } = await startServer(json([], 200, { 'x-total-count': '42' }))
    let count: string | null = null
    await createSwapyard({ baseUrl }).listTokens(
      { network: 'base' },
      { onResponse: ({ headers }) => (count = headers.get('x-total-count')) },
    )
    expect(count).toBe('42')
  })

  test('refuses a key that would be quoted in the message of fetch, and an address that is not http', () => {
    expect(() => createSwapyard({ baseUrl: 'http://127.0.0.1', apiKey: 'line\nbreak' })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('line') }),
    )
    expect(() => createSwapyard({ baseUrl: 'file:///etc' })).toThrow(/http/)
  })
})

describe('a temporary failure', () => {
  test('429: waits for Retry-After and repeats with the same key and body', async () => {
    const { baseUrl, received } = await startServer(
      failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '1' }),
      json({ id: '1' }, 201),
    )
    const start = performance.now()
    expect(await createSwapyard({ baseUrl }).createExchange(order)).toEqual({ id: '1' })
    expect(performance.now() - start).toBeGreaterThan(900)
    expect(received).toHaveLength(2)
    expect(received[1]?.headers['idempotency-key']).toBe(received[0]?.headers['idempotency-key'])
    expect(received[1]?.body).toBe(received[0]?.body)
  })

  test('a Retry-After beyond the limit rejects at once', async () => {
    const { baseUrl, received } = await startServer(failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '3600' }))
    const error = await catchError(createSwapyard({ baseUrl }).listCurrencies())
    expect(error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', statusCode: 429, retryAfterMs: 3_600_000 })
    expect(received).toHaveLength(1)
  })

  test('a Retry-After may be a date', async () => {
    const { baseUrl } = await startServer(
      failure(503, 'OVERLOADED', { 'retry-after': 'Fri, 02 Jan 2099 03:04:05 GMT' }),
    )
    const error = await catchError(createSwapyard({ baseUrl }).listCurrencies())
    expect(error.retryAfterMs).toBeGreaterThan(365 * 86_400_000)
  })

  test('503 and 500: repeats a bounded number of times and rejects with the last failure', async () => {
    const { baseUrl, received } = await startServer(
      failure(503, 'OVERLOADED', { 'retry-after': '0' }),
      failure(500, 'INTERNAL'),
      failure(503, 'RATES_UNAVAILABLE', { 'retry-after': '0' }),
    )
    const error = await catchError(createSwapyard({ baseUrl, retries: 2 }).quoteRate(rate))
    expect(error).toMatchObject({ code: 'RATES_UNAVAILABLE', statusCode: 503, requestId: 'r-1' })
    expect(received).toHaveLength(3)
  })

  test('a connection that is reset is repeated with the same key', async () => {
    const { baseUrl, received } = await startServer(reset, json({ id: '1' }, 201))
    expect(await createSwapyard({ baseUrl }).createExchange(order)).toEqual({ id: '1' })
    expect(new Set(received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(received).toHaveLength(2)
  })

  test('a connection that is reset within the body is repeated', async () => {
    const { baseUrl } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('[', () => response.socket?.resetAndDestroy())
    }, json([]))
    expect(await createSwapyard({ baseUrl }).listCurrencies()).toEqual([])
  })

  test('422 with Retry-After is repeated: the pools of a new token are being read', async () => {
    const { baseUrl, received } = await startServer(
      failure(422, 'NO_ROUTE', { 'retry-after': '0' }),
      json({ toAmount: '1' }),
    )
    const swap = {
      network: 'base',
      fromTokenAddress: 'a',
      toTokenAddress: 'b',
      amount: '1',
      slippage: '1',
      referrerFee: '0',
    }
    expect(await createSwapyard({ baseUrl }).quoteSwap(swap)).toEqual({ toAmount: '1' })
    expect(received).toHaveLength(2)
  })

  test('a payment of the sandbox is never repeated', async () => {
    const { baseUrl, received } = await startServer(reset)
    const deposit = { network: 'btc', currency: 'native', address: 'a', amount: '1' }
    expect(await catchError(createSwapyard({ baseUrl }).createSandboxDeposit(deposit))).toMatchObject({
      code: 'CONNECTION_FAILED',
    })
    expect(received).toHaveLength(1)
  })

  test('a refusal is not repeated', async () => {
    for (const status of [400, 401, 403, 404, 409, 410, 413, 422, 451]) {
      const { baseUrl, received } = await startServer(failure(status, 'VALIDATION_ERROR'))
      expect(await catchError(createSwapyard({ baseUrl }).createExchange(order))).toMatchObject({ statusCode: status })
      expect(received).toHaveLength(1)
    }
  })
})

describe('a deletion', () => {
  const id = '01936b2e-7d1c-7a34-9d5e-6c0f3b1a2d4e'

  test('succeeds if a repeat finds that the first attempt, whose answer was lost, has deleted it', async () => {
    for (const lost of [reset, failure(500, 'INTERNAL')]) {
      const { baseUrl, received } = await startServer(
        lost,
        failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '0' }),
        failure(404, 'WEBHOOK_NOT_FOUND'),
      )
      expect(await createSwapyard({ baseUrl }).deleteWebhook({ id })).toEqual({ id, deleted: true })
      expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(3).fill(`DELETE /v1/webhooks/${id}`))
    }
  })

  test.each([
    ['nothing was deleted', 'WEBHOOK_NOT_FOUND', [failure(404, 'WEBHOOK_NOT_FOUND')]],
    [
      'the attempts before were refused',
      'WEBHOOK_NOT_FOUND',
      [failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '0' }), failure(404, 'WEBHOOK_NOT_FOUND')],
    ],
    ['the repeat has no such path', 'ROUTE_NOT_FOUND', [reset, failure(404, 'ROUTE_NOT_FOUND')]],
  ])('is refused if %s', async (_, code, answers) => {
    const { baseUrl } = await startServer(...answers)
    expect(await catchError(createSwapyard({ baseUrl }).deleteWebhook({ id }))).toMatchObject({ code, statusCode: 404 })
  })

  test('of another kind than a webhook has no answer for a repeat yet', () => {
    const deletions = Object.entries(operations).filter(([, [method]]) => method === 'DELETE')
    expect(deletions.map(([name]) => name)).toEqual(['deleteWebhook'])
  })
})

describe('a bad answer', () => {
  test('a server that does not answer in time: TIMEOUT, with the key for a repeat', async () => {
    const { baseUrl, received } = await startServer(silence)
    const error = await catchError(createSwapyard({ baseUrl, timeoutMs: 2_000, retries: 0 }).createExchange(order))
    expect(error).toMatchObject({ code: 'TIMEOUT', statusCode: null })
    expect(error.idempotencyKey).toBe(received[0]?.headers['idempotency-key'])
  })

  test('a time without an end is as long as a timer can be: it would fire at once', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => void timers.mockRestore())
    const { baseUrl } = await startServer(json([]))
    const swapyard = createSwapyard({ baseUrl, timeoutMs: Number.POSITIVE_INFINITY, retries: 0 })
    expect(await swapyard.listCurrencies()).toEqual([])
    const delays = timers.mock.calls.map(([, delayMs]) => delayMs)
    expect(delays).toContain(2 ** 31 - 1)
    expect(delays).not.toContain(Number.POSITIVE_INFINITY)
  })

  test('a body that never ends in time: TIMEOUT', async () => {
    const { baseUrl } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[')
    })
    expect(await catchError(createSwapyard({ baseUrl, timeoutMs: 200, retries: 0 }).listCurrencies())).toMatchObject({
      code: 'TIMEOUT',
    })
  })

  test('no server: CONNECTION_FAILED', async () => {
    const error = await catchError(
      createSwapyard({ baseUrl: 'http://127.0.0.1:1', retries: 0, apiKey }).listCurrencies(),
    )
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', errors: [] })
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(apiKey)
  })

  test('HTML of a proxy with status 200: INVALID_RESPONSE, not repeated', async () => {
    const { baseUrl, received } = await startServer(
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in</p>'),
    )
    const error = await catchError(createSwapyard({ baseUrl }).listCurrencies())
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE', statusCode: 200 })
    expect(error.message).toContain('text/html')
    expect(received).toHaveLength(1)
  })

  const html =
    (status: number): Respond =>
    (response) =>
      void response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>A proxy</h1>')

  test.each([502, 521])('HTML of a proxy with status %d is repeated', async (status) => {
    const { baseUrl } = await startServer(html(status), json([]))
    expect(await createSwapyard({ baseUrl }).listCurrencies()).toEqual([])
  })

  test.each([501, 505])('HTML of a proxy with status %d is not repeated', async (status) => {
    const { baseUrl, received } = await startServer(html(status), json([]))
    expect(await catchError(createSwapyard({ baseUrl }).listCurrencies())).toMatchObject({ statusCode: status })
    expect(received).toHaveLength(1)
  })

  test.each([
    ['text that is not JSON', '{"id":'],
    ['an empty body', ''],
  ])('%s: INVALID_RESPONSE', async (_, text) => {
    const { baseUrl } = await startServer(
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text),
    )
    expect(await catchError(createSwapyard({ baseUrl }).listCurrencies())).toMatchObject({ code: 'INVALID_RESPONSE' })
  })

  test('a body above the limit: INVALID_RESPONSE', async () => {
    const { baseUrl } = await startServer(json(['x'.repeat(100_000)]))
    const error = await catchError(createSwapyard({ baseUrl, maxResponseBytes: 50_000 }).listCurrencies())
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE', message: expect.stringContaining('limit') })
    expect(await createSwapyard({ baseUrl, maxResponseBytes: 200_000 }).listCurrencies()).toHaveLength(1)
  })

  test('a redirect is not followed: it would carry the key to another host', async () => {
    const other = await startServer(json([]))
    const { baseUrl } = await startServer((response) => void response.writeHead(307, { location: other.baseUrl }).end())
    expect(await catchError(createSwapyard({ baseUrl, apiKey, retries: 0 }).listCurrencies())).toMatchObject({
      code: 'CONNECTION_FAILED',
    })
    expect(other.received).toEqual([])
  })
})

describe('an error of the API', () => {
  test('narrows to its members by the code', async () => {
    const requote = { toAmount: 2, rateId: 'fresh' }
    const { baseUrl } = await startServer(failure(410, 'RATE_ID_EXPIRED', {}, { requote }))
    const error = await catchError(createSwapyard({ baseUrl }).createExchange(order))
    // Without the narrowing, this does not compile.
    if (error.code !== 'RATE_ID_EXPIRED') throw error
    expect(error.errors[0].requote.rateId).toBe('fresh')
    expect(error).toMatchObject({ statusCode: 410, error: 'A reason', message: 'the message of RATE_ID_EXPIRED' })
  })

  test('keeps a code that a later version added', async () => {
    const { baseUrl } = await startServer(failure(422, 'CODE_OF_TOMORROW'))
    const error = await catchError(createSwapyard({ baseUrl }).createExchange(order))
    expect(error).toMatchObject({ code: 'UNKNOWN_CODE', apiCode: 'CODE_OF_TOMORROW', statusCode: 422 })
  })
})

describe('an aborted signal', () => {
  test('rejects with its reason, before the request and during the answer', async () => {
    const { baseUrl, received } = await startServer(silence)
    const reason = new Error('the user left')
    const swapyard = createSwapyard({ baseUrl })
    await expect(swapyard.listCurrencies({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(received).toEqual([])
    const controller = new AbortController()
    const call = swapyard.listCurrencies({ signal: controller.signal })
    await expect.poll(() => received.length).toBe(1)
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
  })

  test('ends the wait before a repeat', async () => {
    const { baseUrl, received } = await startServer(failure(503, 'OVERLOADED', { 'retry-after': '50' }))
    const controller = new AbortController()
    const call = createSwapyard({ baseUrl }).listCurrencies({ signal: controller.signal })
    await expect.poll(() => received.length).toBe(1)
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  })
})
