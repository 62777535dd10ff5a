import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '../../core/http/app-for-tests.ts'
import { usdcToken } from './swaps-in-memory.ts'

const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
let scenario: TestApp
beforeEach(() => {
  scenario = createTestApp()
})
afterEach(() => scenario.app.close())

const get = (url: string, key = 'sandbox', headers: Record<string, string> = {}) =>
  scenario.app.inject({ url, headers: { 'x-api-key': key, ...headers } })
const post = (url: string, payload: object, key = 'sandbox') =>
  scenario.app.inject({ method: 'POST', url, headers: { 'x-api-key': key }, payload })

const trade = { network: 'eth', fromTokenAddress: NATIVE, toTokenAddress: usdcToken.address, amount: '1' }
const build = { ...trade, account: usdcToken.address, slippage: '0.5', referrerFee: '0' }
const sendSwap = {
  ...{ account: NATIVE, amountFrom: '1', amountTo: '2', commissionPercentage: '0', network: 'eth' },
  ...{ fromTokenAddress: NATIVE, toTokenAddress: usdcToken.address },
}

describe('a key', () => {
  test.for([
    ['/v1/defi/transaction/swap', build, 'defi:build'],
    ['/v1/defi/send/approve', { network: 'eth', rawApproveTx: '0x01' }, 'defi:send'],
    ['/v1/defi/send/swap', { ...sendSwap, rawTx: '0x01' }, 'defi:send'],
  ] as const)('needs its scope for %s', async ([url, payload, scope]) => {
    const answer = await post(url, payload, 'read-only')
    expect([answer.statusCode, answer.json().code, answer.json().errors[0].scope]).toEqual([
      403,
      'SCOPE_REQUIRED',
      scope,
    ])
    expect((await post(url, payload)).statusCode).toBe(201)
  })

  test('that is read-only may quote and list', async () => {
    const query = new URLSearchParams({ ...trade, slippage: '1', referrerFee: '0' })
    expect((await get(`/v1/defi/quote?${query}`, 'read-only')).statusCode).toBe(200)
    expect((await get('/v1/defi/exchange/list', 'read-only')).json()).toEqual({ total: 0, exchanges: [] })
  })
})

describe('responses', () => {
  test('of sends are JSON strings, of builds lists of strings', async () => {
    const sent = await post('/v1/defi/send/swap', { ...sendSwap, rawTx: '0x01' })
    expect(sent.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(sent.json()).toMatch(/^0x[0-9a-f]{64}$/)
    expect((await post('/v1/defi/transaction/swap', build)).json()).toEqual(['0x02c0'])
  })

  test('of the token list are pages with a total count and an ETag', async () => {
    const first = await get('/v1/defi/available-currencies?network=eth&limit=1&page=2')
    expect(first.headers['x-total-count']).toBe('2')
    expect(first.headers['link']).toContain('network=eth&page=1&limit=1')
    expect(first.json()).toEqual([
      { ...usdcToken, enabled: true, image: 'http://127.0.0.1:8080/icons/tokens/usdc.svg' },
    ])
    const again = await get('/v1/defi/available-currencies?network=eth&limit=1&page=2', 'sandbox', {
      'if-none-match': String(first.headers['etag']),
    })
    expect(again.statusCode).toBe(304)
  })

  test('of icons come from the package, with a generic icon for unknown tokens', async () => {
    expect((await get('/icons/tokens/usdc.svg')).statusCode).toBe(200)
    expect((await get('/icons/tokens/generic.svg')).headers['content-type']).toBe('image/svg+xml')
    for (const name of ['..%2f..%2fpackage.json', 'nothing-like-it.svg', 'usdc'])
      expect((await get(`/icons/tokens/${name}`)).statusCode).toBe(404)
  })
})

describe('bodies', () => {
  test('with wrong percentages are rejected with the code of their bounds', async () => {
    const { errors } = (
      await post('/v1/defi/transaction/swap', { ...build, slippage: 'much', referrerFee: '-1' })
    ).json()
    expect(errors.map((one: { code: string }) => one.code)).toEqual([
      'SLIPPAGE_OUT_OF_RANGE',
      'REFERRER_FEE_OUT_OF_RANGE',
    ])
  })

  test('with one wrong percentage are rejected with its code, whether it is a number or not', async () => {
    for (const slippage of ['-1', 'NaN', '0.1%', '']) {
      const refused = await post('/v1/defi/transaction/swap', { ...build, slippage })
      expect([refused.statusCode, refused.json().code], slippage).toEqual([400, 'SLIPPAGE_OUT_OF_RANGE'])
    }
    expect((await post('/v1/defi/transaction/swap', { ...build, referrerFee: '-1' })).json()).toMatchObject({
      ...{ statusCode: 400, code: 'REFERRER_FEE_OUT_OF_RANGE' },
      errors: [{ code: 'REFERRER_FEE_OUT_OF_RANGE', field: 'referrerFee' }],
    })
  })

  test('accept isExchange only as a boolean', async () => {
    expect((await post('/v1/defi/send/swap', { ...sendSwap, rawTx: '0x01', isExchange: false })).statusCode).toBe(201)
    expect((await post('/v1/defi/send/swap', { ...sendSwap, rawTx: '0x01', isExchange: 'false' })).statusCode).toBe(400)
  })
})

describe('the networks of swaps', () => {
  test('are all networks of the specification, with those that are served', async () => {
    const list: { network: string; enabled: boolean }[] = (await get('/v1/defi/networks')).json()
    expect(list.map(({ network }) => network)).toEqual(
      'eth sol sui sei arbitrum base bsc cchain celo linea matic op sonic uni'.split(' '),
    )
    expect(list.filter(({ enabled }) => enabled)).toEqual([{ network: 'eth', chainId: 1, enabled: true }])
  })

  test('that are not served are refused for good, without Retry-After', async () => {
    const query = new URLSearchParams({ ...trade, network: 'sol', slippage: '1', referrerFee: '0' })
    const answer = await get(`/v1/defi/quote?${query}`)
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([
      422,
      'NETWORK_NOT_SERVED',
      undefined,
    ])
  })
})

describe('one swap', () => {
  const hash = `0x${'cd'.repeat(32)}`
  const id = '0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e'
  beforeEach(() => {
    const side = { token: usdcToken.address.toLowerCase(), decimals: 6, units: 1_000_000n }
    scenario.services.swaps.rows.push({
      ...{ id, hash, partnerId: 'p1', network: 'eth', sender: 'me', recipient: 'me', nonce: 1, from: side, to: side },
      ...{
        minReceived: 1n,
        feePpm: 0,
        feeTo: null,
        expiry: { by: 'never' },
        status: 'pending',
        reason: null,
        receivedUnits: null,
      },
      ...{ block: null, createdAt: new Date(0), updatedAt: new Date(0), externalId: null },
    })
  })

  test('is found by its id or its hash at any age, by its partner alone', async () => {
    for (const query of [`id=${id}`, `hash=${hash}`]) {
      const answer = await get(`/v1/defi/exchange/status?${query}`)
      expect(answer.json()).toMatchObject({ id, hash, status: 'pending', amountFrom: '1' })
      const etag = String(answer.headers['etag'])
      expect((await get(`/v1/defi/exchange/status?${query}`, 'sandbox', { 'if-none-match': etag })).statusCode).toBe(
        304,
      )
      expect((await get(`/v1/defi/exchange/status?${query}`, 'sandbox-b')).json().code).toBe('EXCHANGE_NOT_FOUND')
    }
    expect((await get('/v1/defi/exchange/status?hash=0x01')).statusCode).toBe(404)
    for (const query of ['', 'id=', `id=${id}&hash=${hash}`])
      expect((await get(`/v1/defi/exchange/status?${query}`)).statusCode).toBe(400)
  })

  test('is found in the list by its hash and its account', async () => {
    const total = async (query: string) => (await get(`/v1/defi/exchange/list?${query}`)).json().total
    expect([await total(`hash=${hash}`), await total('account=me')]).toEqual([1, 1])
    expect([await total('hash=0x01'), await total('account=you'), await total('hash=')]).toEqual([0, 0, 1])
  })
})
