import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { createTestApp, goodOrder, type TestApp } from '../../core/http/app-for-tests.ts'

let scenario: TestApp
beforeEach(() => {
  scenario = createTestApp()
})
afterEach(() => scenario.app.close())

const headers = { 'x-api-key': 'sandbox' }
const get = (url: string, key = 'sandbox') => scenario.app.inject({ url, headers: { 'x-api-key': key } })
const status = '/v1/cross-chain/exchange/status'

async function create(key = 'sandbox'): Promise<string> {
  const answer = await scenario.app.inject({
    method: 'POST',
    url: '/v1/cross-chain/exchange',
    headers: { 'x-api-key': key },
    payload: goodOrder,
  })
  return answer.json().id
}

test('currencies state what identifies them outside of this service', async () => {
  const list: { ticker: string; network: string }[] = (await get('/v1/cross-chain/available-currencies')).json()
  const of = (ticker: string) =>
    present(
      list.find((one) => one.ticker === ticker),
      ticker,
    )
  expect(of('usdt')).toMatchObject({
    decimals: 6,
    contractAddress: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    chainId: 1,
    memoName: null,
  })
  expect(of('eth')).toMatchObject({ decimals: 18, contractAddress: null, chainId: 1, memoName: null })
  expect(of('btc')).toMatchObject({ decimals: 8, contractAddress: null, chainId: null, memoName: null })
  expect(of('xrp')).toMatchObject({ decimals: 6, contractAddress: null, chainId: null, memoName: 'Destination tag' })
})

describe('an exchange', () => {
  test('states its deadlines, confirmations and expected time in statuses and lists', async () => {
    const id = await create()
    const fields = { fixedUntil: null, confirmationsRequired: 2, confirmationsSeen: 0, expectedSeconds: 1_800 }
    const one = (await get(`${status}?id=${id}`)).json().exchange
    expect(one).toMatchObject(fields)
    expect(one.expiresAt).toBe(scenario.services.rows[0]?.view.exchange.expiresAt.toISOString())
    const [listed] = (await get('/v1/cross-chain/exchange/list')).json().data
    expect(listed).toMatchObject({ ...fields, expiresAt: one.expiresAt })
  })

  test('states the same in the answer of its create and in a repeat of it', async () => {
    const post = () =>
      scenario.app.inject({
        method: 'POST',
        url: '/v1/cross-chain/exchange',
        headers: { ...headers, 'idempotency-key': 'one' },
        payload: goodOrder,
      })
    const created = await post()
    const { id, ...rest } = created.json()
    const { exchange } = (await get(`${status}?id=${id}`)).json()
    expect(rest).toMatchObject({
      expiresAt: exchange.expiresAt,
      fixedUntil: null,
      confirmationsRequired: 2,
      confirmationsSeen: 0,
      expectedSeconds: 1_800,
    })
    expect((await post()).body).toBe(created.body)
  })

  test('states the confirmations of each deposit in its items', async () => {
    const id = await create()
    const row = present(scenario.services.rows[0], 'the created row')
    const item = {
      leg: 0,
      status: 'confirming',
      reason: null,
      receivedUnits: 1_000_000n,
      sentUnits: null,
      payinHash: 'in',
      payoutHash: null,
      refund: null,
      createdAt: new Date(),
      confirmations: { network: 'btc', height: 100, required: 4, seen: 3 },
    } as const
    row.view = { ...row.view, executions: [item] }
    const { exchange } = (await get(`${status}?id=${id}`)).json()
    const expected = { confirmationsRequired: 4, confirmationsSeen: 3 }
    expect(exchange).toMatchObject(expected)
    const { expiresAt, fixedUntil } = exchange
    expect(exchange.exchanges).toEqual([
      expect.objectContaining({ ...expected, expectedSeconds: 900, expiresAt, fixedUntil }),
    ])
  })
})

describe('the status of several exchanges', () => {
  test('lists those of the partner in the requested order, once each', async () => {
    const [first, second, other] = [await create(), await create(), await create('sandbox-b')]
    const answer = await get(`${status}?ids=${second},${first},%20${second},unknown,'--,${other}`)
    expect(answer.statusCode).toBe(200)
    const { data } = answer.json()
    expect(data.map((one: { exchange: { id: string } }) => one.exchange.id)).toEqual([second, first])
    expect(data[1]).toEqual((await get(`${status}?id=${first}`)).json())
  })

  test('has an ETag', async () => {
    const url = `${status}?ids=${await create()}`
    const etag = String((await get(url)).headers['etag'])
    const again = await scenario.app.inject({ url, headers: { ...headers, 'if-none-match': etag } })
    expect(again.statusCode).toBe(304)
  })

  test.each([
    ['', 'id is required, or ids'],
    ['?ids=,', 'ids must name at least one exchange'],
    ['?ids=a&id=b', 'id and ids cannot be sent together'],
    [`?ids=${Array.from({ length: 101 }, (_, n) => n).join()}`, 'ids must name at most 100 exchanges'],
  ])('is refused for %s', async (query, message) => {
    expect((await get(`${status}${query}`)).json()).toMatchObject({
      statusCode: 400,
      code: 'VALIDATION_ERROR',
      message,
    })
    expect((await get(`${status}?ids=${Array.from({ length: 100 }, (_, n) => n).join()}`)).json()).toEqual({ data: [] })
  })
})

describe('the validation of an address', () => {
  const validate = async (query: Record<string, string>) =>
    (await get(`/v1/cross-chain/address/validate?${new URLSearchParams(query)}`)).json()
  const usdt = { currency: 'USDT', network: 'erc20' }
  const xrp = { currency: 'xrp', network: 'xrp', address: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh' }

  test('accepts what a create accepts', async () => {
    expect(await validate({ ...usdt, address: goodOrder.address })).toEqual({
      valid: true,
      address: goodOrder.address,
      memo: null,
      errors: [],
    })
    expect(await validate({ ...xrp, memo: '7' })).toMatchObject({ valid: true, memo: '7' })
  })

  test('names the problems that a create would have', async () => {
    const codes = async (query: Record<string, string>) => {
      const { valid, errors } = await validate(query)
      expect(valid).toBe(false)
      return errors.map(({ code, field }: { code: string; field: string }) => `${code} ${field}`)
    }
    expect(await codes({ ...usdt, address: 'bc1q' })).toEqual(['INVALID_ADDRESS address'])
    expect(await codes({ ...usdt, address: 'bc1q', memo: '1' })).toEqual([
      'INVALID_ADDRESS address',
      'MEMO_NOT_SUPPORTED memo',
    ])
    expect(await codes(xrp)).toEqual(['MEMO_REQUIRED memo'])
    expect(await codes({ ...xrp, memo: '-1' })).toEqual(['MEMO_INVALID memo'])
  })

  test('requires a listed currency and an address', async () => {
    expect(await validate({ currency: 'nope', network: 'eth', address: 'x' })).toMatchObject({ statusCode: 404 })
    expect(await validate(usdt)).toMatchObject({ statusCode: 400, errors: [{ field: 'address' }] })
  })
})
