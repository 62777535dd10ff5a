import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from './app-for-tests.ts'

const key = { 'x-api-key': 'sandbox' }
let control: Server
let requests: string[]
let answer: { status: number; body: string }
let scenario: TestApp

/** A control server that records its requests and answers as configured. */
beforeEach(async () => {
  requests = []
  answer = { status: 200, body: '{"hash":"0xabc"}' }
  control = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${body}`)
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
  scenario = createTestApp({ sandboxControlUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}` })
})
afterEach(async () => {
  await scenario.app.close()
  await new Promise((resolve) => control.close(resolve))
})

const deposit = { network: 'btc', currency: 'native', address: 'a', amount: '0.01' }
const sendDeposit = () =>
  scenario.app.inject({ method: 'POST', url: '/sandbox/deposits', headers: key, payload: deposit })

describe('sandbox controls', () => {
  test('are forwarded without their prefix, and answer POST with 201', async () => {
    const paid = await sendDeposit()
    expect([paid.statusCode, paid.json()]).toEqual([201, { hash: '0xabc' }])
    await scenario.app.inject({ url: '/sandbox/balance?network=btc&currency=native&address=a%26b', headers: key })
    expect(requests).toEqual([
      `POST /deposits ${JSON.stringify(deposit)}`,
      'GET /balance?network=btc&currency=native&address=a%26b ',
    ])
  })

  test('accept tickers in any case and aliases, and drop unknown members', async () => {
    const payload = { ...deposit, network: 'Bitcoin', currency: 'XBT', partnerId: 2 }
    const paid = await scenario.app.inject({ method: 'POST', url: '/sandbox/deposits', headers: key, payload })
    expect(paid.statusCode).toBe(201)
    await scenario.app.inject({ url: '/sandbox/balance?network=ERC20&currency=Native&address=a&foo=1', headers: key })
    const reorg = { network: 'btc', depth: 2, drop: true }
    await scenario.app.inject({ method: 'POST', url: '/sandbox/reorgs', headers: key, payload: reorg })
    expect(requests).toEqual([
      `POST /deposits ${JSON.stringify({ ...deposit, currency: 'btc' })}`,
      'GET /balance?network=eth&currency=native&address=a ',
      `POST /reorgs ${JSON.stringify(reorg)}`,
    ])
  })

  test('pause the blocks of a chain, and set a price until null lets it move again', async () => {
    const post = (path: string, payload: object) =>
      scenario.app.inject({ method: 'POST', url: `/sandbox/${path}`, headers: key, payload })
    const answers = [
      await post('mining', { network: 'ETH', paused: true }),
      await post('prices', { currency: 'BTC', usd: '50000.5' }),
      await post('prices', { currency: 'btc', usd: null }),
      await post('prices', { currency: 'MATIC', usd: '0.5' }),
      await post('prices', { currency: 'xbt', usd: '60000' }),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201, 201])
    expect(requests).toEqual([
      'POST /mining {"network":"eth","paused":true}',
      'POST /prices {"currency":"btc","usd":"50000.5"}',
      'POST /prices {"currency":"btc","usd":null}',
      'POST /prices {"currency":"pol","usd":"0.5"}',
      'POST /prices {"currency":"btc","usd":"60000"}',
    ])
    const withoutPrice = await post('prices', { currency: 'btc' })
    expect([withoutPrice.statusCode, withoutPrice.json().code]).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('reject a reorg of more than 50 blocks, the limit of the chains', async () => {
    const reorg = (depth: number) =>
      scenario.app.inject({ method: 'POST', url: '/sandbox/reorgs', headers: key, payload: { network: 'btc', depth } })
    expect([(await reorg(50)).statusCode, (await reorg(51)).json().message]).toEqual([201, 'depth must be <= 50'])
    expect(requests).toHaveLength(1)
  })

  test('succeed once per Idempotency-Key', async () => {
    const payOnce = (idempotencyKey: string, amount = deposit.amount) =>
      scenario.app.inject({
        method: 'POST',
        url: '/sandbox/deposits',
        headers: { ...key, 'idempotency-key': idempotencyKey },
        payload: { ...deposit, amount },
      })
    answer = { status: 503, body: '{"message":"the node is away"}' }
    expect((await payOnce('one')).statusCode).toBe(503)
    answer = { status: 200, body: '{"hash":"0xabc"}' }
    expect((await payOnce('one')).json()).toEqual({ hash: '0xabc' })
    answer = { status: 200, body: '{"hash":"0xdef"}' }
    const again = await payOnce('one')
    expect([again.statusCode, again.json()]).toEqual([201, { hash: '0xabc' }])
    expect((await payOnce('two')).json()).toEqual({ hash: '0xdef' })
    const other = await payOnce('one', '0.02')
    expect([other.statusCode, other.json().code]).toEqual([409, 'IDEMPOTENCY_CONFLICT'])
    expect(requests).toHaveLength(3)
  })

  test('require an API key', async () => {
    expect((await scenario.app.inject({ url: '/sandbox/networks' })).statusCode).toBe(401)
    expect(requests).toEqual([])
  })

  test('return refusals in the error format', async () => {
    answer = { status: 404, body: '{"message":"there is no network zzz"}' }
    const refused = await sendDeposit()
    expect([refused.statusCode, refused.json().code, refused.json().message]).toEqual([
      404,
      'NETWORK_NOT_FOUND',
      'there is no network zzz',
    ])
    answer = { status: 400, body: '{"error":{"code":"INVALID_ADDRESS","message":"not an address"}}' }
    expect((await sendDeposit()).json().code).toBe('VALIDATION_ERROR')
    answer = { status: 400, body: '{"code":"INVALID_ADDRESS","message":"not an address"}' }
    expect((await sendDeposit()).json().code).toBe('INVALID_ADDRESS')
  })

  test.each([
    ['an answer that is not JSON', 200, '<html>'],
    ['an answer that is too long', 200, `"${'x'.repeat(2 * 1024 * 1024)}"`],
    ['a failure of the chains', 500, '{"message":"stack"}'],
  ])('return 503 for %s', async (_name, status, body) => {
    answer = { status, body }
    const failed = await sendDeposit()
    expect([failed.statusCode, failed.json().code]).toEqual([503, 'NETWORK_UNAVAILABLE'])
  })

  test('do not exist outside the sandbox', async () => {
    const production = createTestApp()
    expect((await production.app.inject({ url: '/sandbox/networks', headers: key })).statusCode).toBe(404)
    await production.app.close()
  })
})
