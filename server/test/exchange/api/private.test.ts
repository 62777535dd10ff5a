import { afterAll, describe, expect, test } from 'vitest'
import { createTestApp } from '../../core/http/app-for-tests.ts'

const { app, services } = createTestApp()
afterAll(() => app.close())

const headers = { 'x-api-key': 'sandbox' }
const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const body = { ...pair, fromAmount: '0.01', address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045' }
const quote = (query: Record<string, string>) =>
  app.inject({ url: `/v1/cross-chain/rate/private?${new URLSearchParams({ ...pair, ...query })}`, headers })
const create = (payload: object, extra: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/v1/cross-chain/exchange/private',
    headers: { ...headers, ...extra },
    payload,
  })
const status = (kind: string, id: string, key = 'sandbox') =>
  app.inject({ url: `/v1/cross-chain/exchange/status${kind}?id=${id}`, headers: { 'x-api-key': key } })

describe('a private quote', () => {
  test('is a rate quote without a rateId, with how long it takes', async () => {
    const answer = await quote({ amount: '0.01', privateType: 'efficient' })
    expect(answer.statusCode).toBe(200)
    const { fees, expectedSeconds, ...rest } = answer.json()
    expect(Object.keys(rest)).toEqual(
      'min max fromAmount toAmount fromCurrency toCurrency fromNetwork toNetwork amountFromUsd amountToUsd'.split(' '),
    )
    expect(rest.fromAmount).toBe(0.01)
    expect(Object.keys(fees)).toEqual(['service', 'partner', 'network'])
    expect(expectedSeconds).toBe(120)
  })

  test('needs one of two privateTypes', async () => {
    expect((await quote({})).json()).toMatchObject({ statusCode: 400, errors: [{ field: 'privateType' }] })
    expect((await quote({ privateType: 'secret' })).statusCode).toBe(400)
    expect((await quote({ privateType: 'privatePlus' })).json()).toMatchObject({ code: 'PAIR_UNAVAILABLE' })
  })
})

describe('a private create', () => {
  test('is a private exchange of the standard flow; a rateId is not looked at', async () => {
    const answer = await create({ ...body, rateId: 'none of ours' })
    expect(answer.statusCode).toBe(201)
    const created = answer.json()
    expect(created).toMatchObject({ exchangeType: 'private', status: 'pending', exchanges: [] })
    expect(created.request.flow).toBe('standard')
    expect((await status('', created.id)).json()).toMatchObject({ type: 'private', exchange: { id: created.id } })
    expect((await status('/private', created.id)).json()).toMatchObject({ exchangeType: 'private' })
    expect((await status('/standard', created.id)).json()).toMatchObject({ code: 'EXCHANGE_NOT_FOUND' })
    expect((await status('/private', created.id, 'sandbox-b')).statusCode).toBe(404)
  })

  test('under one key is one exchange, and not one of the other kind', async () => {
    const key = { 'idempotency-key': 'k-1' }
    const [first, again] = [await create(body, key), await create(body, key)]
    expect(again.body).toBe(first.body)
    expect((await create({ ...body, privateType: 'efficient', fromAmount: '0.02' }, key)).statusCode).toBe(409)
  })

  test('that is refused leaves nothing', async () => {
    const before = services.rows.length
    expect((await create({ ...body, privateType: 'privatePlus' })).json()).toMatchObject({ code: 'PAIR_UNAVAILABLE' })
    expect((await create({ ...body, privateType: 'other' })).statusCode).toBe(400)
    expect((await create({ ...body, toCurrency: 'btc', toNetwork: 'btc' })).statusCode).toBe(400)
    expect(services.rows).toHaveLength(before)
  })

  test('stands in the list, which can be asked for it alone', async () => {
    const list = async (type: string) =>
      (await app.inject({ url: `/v1/cross-chain/exchange/list?exchangeType=${type}`, headers })).json()
    const { total, data } = await list('private')
    expect(total).toBeGreaterThan(0)
    expect(new Set(data.map((one: { exchangeType: string }) => one.exchangeType))).toEqual(new Set(['private']))
    expect((await list('standard')).total).toBe(0)
  })
})
